package conformance

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docFormat     = "Kubernetes API Concepts, Alternate representations of resources; apiserver handlers/watch.go"
	protobufWatch = "application/vnd.kubernetes.protobuf;stream=watch"
)

// watchFormatCases returns the cases about the encoding of watches (WA).
func watchFormatCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "WA-30", Level: Must, Title: "a watch as YAML is not acceptable",
			Why:    "YAML has no framing for streams",
			Source: docFormat,
		}, func(ctx context.Context, s *session, c collection) error {
			r, err := s.do(ctx, get(c.path()+"?watch=true&timeoutSeconds=1").withAccept("application/yaml"), code(406))
			if err != nil {
				return err
			}
			for _, known := range []string{"application/json;stream=watch", protobufWatch} {
				// YAML folds long lines of the Status at spaces, but media types have none.
				if !strings.Contains(string(r.body), known) {
					return r.errorf("expected the message to contain %s", known)
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "WA-31/json", Level: Must, Title: "a watch in JSON has Content-Type application/json and is chunked",
			Why:    "clients select the decoder by it",
			Source: docFormat,
		}, checkJSONWatch),
		onBoth(Case{
			ID: "WA-36", Level: Must, Title: "a watch as PartialObjectMetadata has that kind in each event",
			Why:    "metadata informers decode this kind only",
			Source: docFormat,
		}, checkMetadataWatch),
		[]Case{
			onSecrets(Case{
				ID: "WA-31/protobuf", Level: Must, Title: "a watch in protobuf has a Content-Type with stream=watch",
				Why:    "clients select the framing by it",
				Source: docFormat,
			}, checkProtobufContentType),
			onSecrets(Case{
				ID: "WA-32", Level: Must, Title: "a watch in protobuf sends frames of a four-byte length and a WatchEvent",
				Why:    "typed clients and controllers watch built-in types this way",
				Source: "apimachinery runtime/serializer/protobuf",
			}, checkProtobufFrames),
		},
	)
}

func checkJSONWatch(ctx context.Context, _ *session, c collection) error {
	w, err := c.watch(ctx, "?watch=true&timeoutSeconds=1")
	if err != nil {
		return err
	}
	defer w.close()
	if got := w.response.Header.Get("Content-Type"); got != "application/json" {
		return w.errorf("expected Content-Type application/json, got %q", got)
	}
	if w.response.ContentLength != -1 {
		return w.errorf("expected a stream without Content-Length, got %d", w.response.ContentLength)
	}
	if got := w.response.TransferEncoding; w.response.ProtoMajor == 1 && !slices.Equal(got, []string{"chunked"}) {
		return w.errorf("expected Transfer-Encoding chunked, got %v", got)
	}
	return w.wantEnd()
}

func checkMetadataWatch(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a").withLabel("k", "v")); err != nil {
		return err
	}
	w, err := s.watch(ctx, get(c.path()+"?watch=true").withAccept(mediaTypePartial))
	if err != nil {
		return err
	}
	defer w.close()
	if err := wantMetadata(w, "ADDED"); err != nil {
		return err
	}
	if _, err := c.annotate(ctx, "a", "1"); err != nil {
		return err
	}
	if err := wantMetadata(w, "MODIFIED"); err != nil {
		return err
	}
	if err := c.delete(ctx, "a"); err != nil {
		return err
	}
	return wantMetadata(w, "DELETED")
}

func wantMetadata(w *watcher, kind string) error {
	e, err := w.want(kind, "a")
	if err != nil {
		return err
	}
	if e.meta.Kind != "PartialObjectMetadata" || e.meta.APIVersion != "meta.k8s.io/v1" || e.meta.Labels["k"] != "v" {
		return w.errorf("expected a meta.k8s.io/v1 PartialObjectMetadata with the labels, got %s", excerpt(e.Object))
	}
	return nil
}

func checkProtobufContentType(ctx context.Context, s *session, c collection) error {
	w, err := s.watch(ctx, get(c.path()+"?watch=true&timeoutSeconds=1").withAccept(protobufWatch))
	if err != nil {
		return err
	}
	defer w.close()
	header := w.response.Header.Get("Content-Type")
	got, parameters, err := mime.ParseMediaType(header)
	if err != nil || got != "application/vnd.kubernetes.protobuf" || parameters["stream"] != "watch" {
		return w.errorf("expected Content-Type %s, got %q", protobufWatch, header)
	}
	return nil
}

func checkProtobufFrames(ctx context.Context, s *session, c collection) error {
	for _, name := range []string{"a", "b"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	w, err := s.watch(ctx, get(c.path()+"?watch=true&timeoutSeconds=3").withAccept(protobufWatch))
	if err != nil {
		return err
	}
	defer w.close()
	for range 2 {
		e, err := readProtobufFrame(w.response.Body)
		if err != nil {
			return w.errorf("reading a protobuf frame: %w", err)
		}
		if e.Type != "ADDED" {
			return w.errorf("expected ADDED, got %q", e.Type)
		}
		if !strings.HasPrefix(string(e.Object.Raw), "k8s\x00") {
			return w.errorf("expected an object in protobuf, which starts with k8s and a zero byte, got %q", excerpt(e.Object.Raw))
		}
	}
	if more, err := io.ReadAll(w.response.Body); err != nil || len(more) > 0 {
		return w.errorf("expected the stream to end without an error after two frames, got %d more bytes and the error %v", len(more), err)
	}
	return nil
}

func readProtobufFrame(r io.Reader) (metav1.WatchEvent, error) {
	var e metav1.WatchEvent
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return e, err
	}
	const maxSize = 16 << 20 // a larger value is no length, but text of another format
	size := binary.BigEndian.Uint32(length[:])
	if size > maxSize {
		return e, fmt.Errorf("expected a frame of at most %d bytes, got the length %d", maxSize, size)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(r, frame); err != nil {
		return e, err
	}
	return e, e.Unmarshal(frame)
}
