package conformance

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	mediaTypeProtobuf = "application/vnd.kubernetes.protobuf"
	docProtobuf       = "Kubernetes API Concepts, Protobuf encoding"
)

// protobufCases returns the cases about protobuf (PB).
func protobufCases() []Case {
	return []Case{
		onSecrets(Case{
			ID: "PB-01", Level: Must, Title: "built-in types can be written and read in protobuf",
			Why:    "typed clients use protobuf by default",
			Source: "Kubernetes API Concepts, Alternate representations of resources",
		}, checkProtobufVerbs),
		onSecrets(Case{
			ID: "PB-02", Level: Must, Title: "a protobuf body has four magic bytes and an envelope with kind and apiVersion",
			Why:    "clients select the type by it",
			Source: docProtobuf,
		}, checkProtobufEnvelopes),
		onBasicCRs(Case{
			ID: "PB-03", Level: Must, Title: "protobuf is not acceptable for a custom resource",
			Why:    "it has no protobuf encoding",
			Source: docProtobuf,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.path()).withAccept(mediaTypeProtobuf), code(406))
		}),
		onBasicCRs(Case{
			ID: "PB-05", Level: Must, Title: "a request for a custom resource that accepts protobuf and JSON gets JSON",
			Why:    "clients request unknown types this way",
			Source: docProtobuf,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.path()).withAccept(mediaTypeProtobuf+", application/json"), code(200), mediaType("application/json"), kind(c.apiVersion, "WidgetList"))
		}),
		onSecrets(Case{
			ID: "PB-06", Level: Must, Title: "an error is a Status in protobuf if the client accepts protobuf",
			Why:    "the client may have no other decoder",
			Source: "apiserver handlers/responsewriters",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.item("none")).withAccept(mediaTypeProtobuf), code(404), mediaType(mediaTypeProtobuf), isProtobufStatus(metav1.StatusReasonNotFound))
		}),
		onSecrets(Case{
			ID: "PB-07", Level: Must, Title: "a body that is not protobuf, or is truncated, is rejected",
			Why:    "the body is damaged",
			Source: "apimachinery runtime/serializer/protobuf",
		}, checkMalformedProtobuf),
		onSecrets(Case{
			ID: "PB-07/kind", Level: Must, Title: "an envelope with another kind is rejected",
			Why:    "its bytes would be decoded as the wrong type",
			Source: "apimachinery runtime/serializer/protobuf",
		}, func(ctx context.Context, s *session, c collection) error {
			body, err := encodeProtobuf(c.apiVersion, "ConfigMap", "a")
			if err != nil {
				return err
			}
			return s.expect(ctx, withProtobufBody(post(c.path(), body)), failure{
				code: 400, reason: metav1.StatusReasonBadRequest, contains: `ConfigMap in version "v1" cannot be handled as a Secret: `,
			}.check)
		}),
	}
}

// encodeProtobuf returns an object in protobuf with a name and a label.
func encodeProtobuf(apiVersion, kind, name string) (string, error) {
	meta := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"in": "protobuf"}}}
	raw, err := meta.Marshal() // the metadata is the first field of every type
	if err != nil {
		return "", err
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	return "k8s\x00" + string(b), err
}

func withProtobufBody(c call) call {
	c.contentType = mediaTypeProtobuf
	return c
}

// decodeEnvelope expects a protobuf body of this type, and returns its content.
func decodeEnvelope(r *response, apiVersion, kind string) ([]byte, error) {
	inside, ok := strings.CutPrefix(string(r.body), "k8s\x00")
	if !ok {
		return nil, fmt.Errorf("expected the magic bytes of protobuf, got % x", r.body[:min(4, len(r.body))])
	}
	var u runtime.Unknown
	if err := u.Unmarshal([]byte(inside)); err != nil {
		return nil, fmt.Errorf("expected an envelope: %w", err)
	}
	if u.APIVersion != apiVersion || u.Kind != kind || u.ContentEncoding != "" || u.ContentType != "" {
		return nil, fmt.Errorf("expected a plain envelope of a %s %s, got one of %q %q, encoding %q, type %q",
			apiVersion, kind, u.APIVersion, u.Kind, u.ContentEncoding, u.ContentType)
	}
	return u.Raw, nil
}

// isProtobufObject expects an object of the collection in protobuf, with its name and its label.
func isProtobufObject(c collection, name string) expectation {
	return func(r *response) error {
		raw, err := decodeEnvelope(r, c.apiVersion, c.kind)
		if err != nil {
			return err
		}
		var o metav1.PartialObjectMetadata
		if err := o.Unmarshal(raw); err != nil {
			return fmt.Errorf("expected a %s: %w", c.kind, err)
		}
		if o.Name != name || o.Labels["in"] != "protobuf" || o.ResourceVersion == "" {
			return fmt.Errorf("expected %q with a label and a resourceVersion, got %q, %v, %q", name, o.Name, o.Labels, o.ResourceVersion)
		}
		return nil
	}
}

// isProtobufStatus expects a Status in protobuf with a reason.
func isProtobufStatus(reason metav1.StatusReason) expectation {
	return func(r *response) error {
		raw, err := decodeEnvelope(r, "v1", "Status")
		if err != nil {
			return err
		}
		var s metav1.Status
		if err := s.Unmarshal(raw); err != nil {
			return fmt.Errorf("expected a Status: %w", err)
		}
		if s.Reason != reason || int(s.Code) != r.code {
			return fmt.Errorf("expected a Status %d %s, got %d %s", r.code, reason, s.Code, s.Reason)
		}
		return nil
	}
}

func checkProtobufVerbs(ctx context.Context, s *session, c collection) error {
	body, err := encodeProtobuf(c.apiVersion, c.kind, "a")
	if err != nil {
		return err
	}
	expectObject := []expectation{mediaType(mediaTypeProtobuf), isProtobufObject(c, "a")}
	if err := s.expect(ctx, withProtobufBody(post(c.path(), body)).withAccept(mediaTypeProtobuf), append(expectObject, code(201))...); err != nil {
		return err
	}
	for _, again := range []call{withProtobufBody(put(c.item("a"), body)), get(c.item("a"))} {
		if err := s.expect(ctx, again.withAccept(mediaTypeProtobuf), append(expectObject, code(200))...); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), field("protobuf", "metadata", "labels", "in"))
}

func checkProtobufEnvelopes(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for path, of := range sortedByKey(map[string]string{c.item("a"): c.kind, c.path(): c.kind + "List", c.item("none"): "Status"}) {
		if err := s.expect(ctx, get(path).withAccept(mediaTypeProtobuf), func(r *response) error {
			_, err := decodeEnvelope(r, "v1", of)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func checkMalformedProtobuf(ctx context.Context, s *session, c collection) error {
	complete, err := encodeProtobuf(c.apiVersion, c.kind, "a")
	if err != nil {
		return err
	}
	for body, text := range sortedByKey(map[string]string{
		"not protobuf": "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
		complete[:12]:  "unexpected EOF",
		"k8s\x00":      "empty body",
	}) {
		want := failure{code: 400, reason: metav1.StatusReasonBadRequest, contains: text}
		if err := s.expect(ctx, withProtobufBody(post(c.path(), body)), want.check); err != nil {
			return err
		}
	}
	return nil
}
