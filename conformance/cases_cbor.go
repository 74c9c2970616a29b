package conformance

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

const (
	mediaTypeCBOR = "application/cbor"
	cborTag       = "\xd9\xd9\xf7"
	docCBOR       = "Kubernetes API Concepts, CBOR resource encoding"
)

// cborCases returns the cases about CBOR (CB), which is behind a feature gate.
func cborCases() []Case {
	return []Case{
		onSecrets(Case{
			ID: "CB-01", Level: Must, Title: "a server without CBOR neither sends nor accepts it",
			Why:    "clients fall back to JSON",
			Source: docCBOR,
		}, checkNoCBOR),
		onSecrets(Case{
			ID: "CB-02", Level: May, Title: "a server with CBOR accepts and sends objects, lists, errors and apply patches in CBOR",
			Why:    "clients that prefer CBOR use it for all requests",
			Source: docCBOR,
		}, checkCBORVerbs),
		onSecrets(Case{
			ID: "CB-02/watch", Level: May, Title: "a watch in CBOR is a CBOR sequence, with a Content-Type of its own",
			Why:    "clients select the framing by it",
			Source: docCBOR,
		}, checkCBORWatch),
		onSecrets(Case{
			ID: "CB-03", Level: May, Title: "responses in CBOR begin with the tag of self-described CBOR",
			Why:    "decoders recognize CBOR by it",
			Source: docCBOR,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := skipWithoutCBOR(ctx, s, c); err != nil {
				return err
			}
			for _, path := range []string{c.path(), c.item("none")} {
				if err := s.expect(ctx, get(path).withAccept(mediaTypeCBOR), hasCBORTag); err != nil {
					return err
				}
			}
			return nil
		}),
		onSecrets(Case{
			ID: "CB-04", Level: Must, Title: "a request that accepts CBOR and JSON gets one of them, with the matching Content-Type",
			Why:    "clients must work with both kinds of servers",
			Source: docCBOR,
		}, checkCBOROrJSON),
	}
}

// skipWithoutCBOR skips the case if the server does not support CBOR.
func skipWithoutCBOR(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, get(c.path()).withAccept(mediaTypeCBOR), code(http.StatusOK, http.StatusNotAcceptable))
	if err == nil && r.code == http.StatusNotAcceptable {
		return s.skipWithoutFeature(CBORServingAndStorage, "the server has no CBOR")
	}
	return err
}

func checkNoCBOR(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, get(c.path()).withAccept(mediaTypeCBOR), code(http.StatusOK, http.StatusNotAcceptable))
	if err != nil {
		return err
	}
	if r.code == http.StatusOK && r.header.Get("Content-Type") == mediaTypeCBOR {
		return s.skipWithFeature(CBORServingAndStorage, "the server has CBOR")
	}
	if err := r.expect(failure{code: 406, reason: metav1.StatusReasonNotAcceptable}.check); err != nil {
		return err
	}
	body := post(c.path(), cborTag+"\xa0")
	body.contentType = mediaTypeCBOR
	return s.expect(ctx, body, failure{
		code: 415, reason: metav1.StatusReasonUnsupportedMediaType,
		contains: "the body of the request was in an unknown format - accepted media types include: application/json",
	}.check)
}

// hasCBORTag expects the tag of self-described CBOR.
func hasCBORTag(r *response) error {
	if !bytes.HasPrefix(r.body, []byte(cborTag)) {
		return fmt.Errorf("expected the tag d9 d9 f7, got % x", r.body[:min(3, len(r.body))])
	}
	return nil
}

// isCBORObject expects an object in CBOR with this type and name.
func isCBORObject(apiVersion, kind, name string) expectation {
	return func(r *response) error {
		if err := mediaType(mediaTypeCBOR)(r); err != nil {
			return err
		}
		var got metav1.PartialObjectMetadata
		if err := decodeCBOR(r.body, &got); err != nil {
			return err
		}
		if got.APIVersion != apiVersion || got.Kind != kind || got.Name != name {
			return fmt.Errorf("expected %s %s %q, got %s %s %q", apiVersion, kind, name, got.APIVersion, got.Kind, got.Name)
		}
		return nil
	}
}

// decodeCBOR decodes the fields that cases check.
func decodeCBOR(b []byte, into *metav1.PartialObjectMetadata) error {
	var content map[string]any
	if err := direct.Unmarshal(b, &content); err != nil {
		return fmt.Errorf("expected CBOR: %w", err)
	}
	text := func(m map[string]any, key string) string { s, _ := m[key].(string); return s }
	into.APIVersion, into.Kind = text(content, "apiVersion"), text(content, "kind")
	meta, _ := content["metadata"].(map[string]any)
	into.Name, into.ResourceVersion = text(meta, "name"), text(meta, "resourceVersion")
	return nil
}

func checkCBORVerbs(ctx context.Context, s *session, c collection) error {
	if err := skipWithoutCBOR(ctx, s, c); err != nil {
		return err
	}
	item, err := direct.Marshal(c.object("a"))
	if err != nil {
		return err
	}
	of := func(r call, contentType string) call {
		r.body, r.contentType, r.accept = cborTag+string(item), contentType, mediaTypeCBOR
		return r
	}
	object := isCBORObject(c.apiVersion, c.kind, "a")
	return s.expectAll(ctx,
		send(of(post(c.path(), nil), mediaTypeCBOR), code(201), object),
		send(of(put(c.item("a"), nil), mediaTypeCBOR), code(200), object),
		send(of(patch("", c.item("a"), nil).withQuery("fieldManager=conformance"), "application/apply-patch+cbor"), code(200), object),
		send(get(c.item("a")).withAccept(mediaTypeCBOR), code(200), object),
		send(get(c.path()).withAccept(mediaTypeCBOR), code(200), isCBORObject(c.apiVersion, c.kind+"List", "")),
		send(get(c.item("none")).withAccept(mediaTypeCBOR), code(404), isCBORObject("v1", "Status", "")),
	)
}

func checkCBORWatch(ctx context.Context, s *session, c collection) error {
	if err := skipWithoutCBOR(ctx, s, c); err != nil {
		return err
	}
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	w, err := s.watch(ctx, get(c.path()+"?watch=true&timeoutSeconds=3").withAccept(mediaTypeCBOR))
	if err != nil {
		return err
	}
	defer w.close()
	if got := w.response.Header.Get("Content-Type"); got != "application/cbor-seq" {
		return w.errorf("expected Content-Type application/cbor-seq, got %q", got)
	}
	frame := make([]byte, 1<<20)
	n, err := cbor.NewFramer().NewFrameReader(w.response.Body).Read(frame)
	if err != nil {
		return w.errorf("expected an item of CBOR: %w", err)
	}
	var event map[string]any
	if err := direct.Unmarshal(frame[:n], &event); err != nil {
		return w.errorf("expected an item of CBOR: %w", err)
	}
	shown, _ := event["object"].(map[string]any)
	if event["type"] != "ADDED" || shown["kind"] != c.kind {
		return w.errorf("expected ADDED of a %s, got %v of %v", c.kind, event["type"], shown["kind"])
	}
	return nil
}

func checkCBOROrJSON(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, get(c.path()).withAccept(mediaTypeCBOR+", application/json;q=0.5"), code(200))
	if err != nil {
		return err
	}
	if r.header.Get("Content-Type") == mediaTypeCBOR {
		return r.expect(hasCBORTag, isCBORObject(c.apiVersion, c.kind+"List", ""))
	}
	return r.expect(mediaType("application/json"), kind(c.apiVersion, c.kind+"List"))
}
