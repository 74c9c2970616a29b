package conformance

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// streamFormatCases returns the cases about the encoding of streaming lists (SI-16, SI-17).
func streamFormatCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "SI-16/metadata", Level: Should, Title: "a streaming list as PartialObjectMetadata has that kind in each event, including the bookmark",
			Why:    "metadata informers decode this kind only",
			Source: docStreams + "; " + docFormat,
		}, onFiveObjects(checkMetadataStream)),
		onBoth(Case{
			ID: "SI-16/table", Level: Should, Title: "a streaming list as Tables has a Table in each event, including the bookmark",
			Why:    "kubectl get --watch prints them",
			Source: docStreams + "; Kubernetes API Concepts, Receiving resources as Tables",
		}, onFiveObjects(checkTableStream)),
		[]Case{onSecrets(Case{
			ID: "SI-16/protobuf", Level: Should, Title: "a streaming list in protobuf sends its objects and its bookmark as frames",
			Why:    "typed clients and controllers watch built-in types this way",
			Source: docStreams + "; " + docFormat,
		}, onFiveObjects(checkProtobufStream))},
		onBoth(Case{
			ID: "SI-17/plain", Level: Should, Title: "a streaming list is not compressed unless the client accepts gzip",
			Why:    "the client could not read it",
			Source: "apiserver handlers/watch.go, feature gate WatchListCompression",
		}, onFiveObjects(checkUncompressedStream)),
		onBoth(Case{
			ID: "SI-17/gzip", Level: Should, Title: "a streaming list is compressed for a client that accepts gzip, and each event is sent immediately",
			Why:    "compression reduces large states from megabytes to kilobytes",
			Source: "apiserver handlers/watch.go, feature gate WatchListCompression",
		}, onFiveObjects(checkCompressedStream)),
		onBoth(Case{
			ID: "SI-17/other", Level: Should, Title: "a watch that is no streaming list is not compressed, whatever the client accepts",
			Why:    "single events are small, and compression costs memory for each watch",
			Source: "apiserver handlers/watch.go, feature gate WatchListCompression",
		}, checkUncompressedWatches),
	)
}

// openStream opens a streaming list with a changed request.
func openStream(ctx context.Context, s *session, c collection, change func(*call)) (*watcher, error) {
	if err := s.skipWithoutWatchList(ctx, c); err != nil {
		return nil, err
	}
	request := get(c.path() + streamingList)
	change(&request)
	return s.watch(ctx, request)
}

func checkMetadataStream(ctx context.Context, s *session, c collection) error {
	w, err := openStream(ctx, s, c, func(r *call) { r.accept = mediaTypePartial })
	if err != nil {
		return err
	}
	defer w.close()
	for range len(fiveNames) + 1 {
		e, err := w.next()
		if err != nil {
			return err
		}
		if e.meta.Kind != "PartialObjectMetadata" || e.meta.APIVersion != "meta.k8s.io/v1" {
			return w.errorf("expected a meta.k8s.io/v1 PartialObjectMetadata, got %s", excerpt(e.Object))
		}
		if e.endsInitialEvents() {
			return nil
		}
	}
	return w.errorf("expected the bookmark that ends the initial events")
}

// checkTableStream reads Tables with one row each. The bookmark has a row too, for the object with
// the annotation.
func checkTableStream(ctx context.Context, s *session, c collection) error {
	w, err := openStream(ctx, s, c, func(r *call) { r.accept = mediaTypeTable })
	if err != nil {
		return err
	}
	defer w.close()
	for _, name := range append(slices.Clone(fiveNames), "") {
		e, err := w.next()
		if err != nil {
			return err
		}
		row, err := tableRow(w, e)
		if err != nil {
			return err
		}
		if row.Name != name {
			return w.errorf("expected a row of %q, got %s", name, excerpt(e.Object))
		}
		if end := (event{Type: e.Type, meta: row}).endsInitialEvents(); end != (name == "") {
			return w.errorf("expected %d ADDED events and then the bookmark that ends them, got %s", len(fiveNames), excerpt(e.Object))
		}
	}
	return nil
}

// tableRow returns the object of the only row of an event.
func tableRow(w *watcher, e event) (metav1.PartialObjectMetadata, error) {
	var table metav1.Table
	if err := json.Unmarshal(e.Object, &table); err != nil {
		return metav1.PartialObjectMetadata{}, w.errorf("expected a Table: %w", err)
	}
	if table.Kind != "Table" || table.APIVersion != "meta.k8s.io/v1" || len(table.Rows) != 1 {
		return metav1.PartialObjectMetadata{}, w.errorf("expected a meta.k8s.io/v1 Table of one row, got %s", excerpt(e.Object))
	}
	var row metav1.PartialObjectMetadata
	if err := json.Unmarshal(table.Rows[0].Object.Raw, &row); err != nil {
		return row, w.errorf("expected the object's metadata in the row: %w", err)
	}
	if row.Kind != "PartialObjectMetadata" {
		return row, w.errorf("expected the object's metadata in the row, got %s", excerpt(e.Object))
	}
	return row, nil
}

func checkProtobufStream(ctx context.Context, s *session, c collection) error {
	w, err := openStream(ctx, s, c, func(r *call) { r.accept = protobufWatch })
	if err != nil {
		return err
	}
	defer w.close()
	for i := range len(fiveNames) + 1 {
		e, err := readProtobufFrame(w.response.Body)
		if err != nil {
			return w.errorf("reading a protobuf frame: %w", err)
		}
		want := "ADDED"
		if i == len(fiveNames) {
			want = "BOOKMARK"
		}
		if e.Type != want {
			return w.errorf("expected %s as event %d, got %s", want, i+1, e.Type)
		}
		if got, err := protobufKind(e.Object.Raw); err != nil || got != c.kind {
			return w.errorf("expected a %s in event %d, got a %q and the error %v", c.kind, i+1, got, err)
		}
	}
	return nil
}

// protobufKind returns the kind of an object in protobuf, which has four magic bytes and a
// runtime.Unknown.
func protobufKind(raw []byte) (string, error) {
	const prefix = "k8s\x00"
	var o runtime.Unknown
	err := o.Unmarshal(raw[min(len(prefix), len(raw)):])
	return o.Kind, err
}

func checkUncompressedStream(ctx context.Context, s *session, c collection) error {
	w, err := openStream(ctx, s, c, func(r *call) { r.encoding = "identity" })
	if err != nil {
		return err
	}
	defer w.close()
	if got := w.response.Header.Get("Content-Encoding"); got != "" && got != "identity" {
		return w.errorf("expected no Content-Encoding, got %q", got)
	}
	_, err = w.wantInitialEvents(fiveNames...)
	return err
}

func checkCompressedStream(ctx context.Context, s *session, c collection) error {
	w, err := openStream(ctx, s, c, func(r *call) { r.encoding = "gzip" })
	if err != nil {
		return err
	}
	defer w.close()
	if got := w.response.Header.Get("Content-Encoding"); got != "gzip" {
		return w.errorf("expected Content-Encoding gzip, got %q", got)
	}
	plain, err := gzip.NewReader(w.response.Body)
	if err != nil {
		return w.errorf("expected a gzip stream: %w", err)
	}
	w.frames = json.NewDecoder(plain)
	if _, err := w.wantInitialEvents(fiveNames...); err != nil {
		return err
	}
	changed, err := c.annotate(ctx, "a", "1")
	if err != nil {
		return err
	}
	return w.wantAt("MODIFIED", "a", changed.ResourceVersion)
}

// checkUncompressedWatches accepts gzip for watches that do not end their initial events with a
// bookmark, or have no initial events.
func checkUncompressedWatches(ctx context.Context, s *session, c collection) error {
	made, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	from := "?watch=true&resourceVersion=" + made.ResourceVersion
	for _, query := range []string{"?watch=true", "?watch=true&resourceVersion=0", from, from + "&allowWatchBookmarks=true"} {
		request := get(c.path() + query)
		request.encoding = "gzip"
		w, err := s.watch(ctx, request)
		if err != nil {
			return err
		}
		got := w.response.Header.Get("Content-Encoding")
		w.close()
		if got != "" && got != "identity" {
			return w.errorf("expected no Content-Encoding, got %q", got)
		}
	}
	return nil
}
