package conformance

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	inProtobuf  = "application/vnd.kubernetes.protobuf"
	docProtobuf = "Kubernetes API Concepts, Protobuf encoding"
)

// protobufCases are about protobuf (PB).
func protobufCases() []Case {
	return []Case{
		onSecrets(Case{
			ID: "PB-01", Level: Must, Title: "built-in types are written and read in protobuf",
			Why:    "typed clients speak nothing else to them",
			Source: "Kubernetes API Concepts, Alternate representations of resources",
		}, protobufLife),
		onSecrets(Case{
			ID: "PB-02", Level: Must, Title: "a body in protobuf is four magic bytes, and an envelope with kind and apiVersion",
			Why:    "clients find out by it what is inside",
			Source: docProtobuf,
		}, protobufEnvelopes),
		onWidgets(Case{
			ID: "PB-03", Level: Must, Title: "a custom resource in protobuf is not acceptable",
			Why:    "it has no such form",
			Source: docProtobuf,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, get(c.path()).as(inProtobuf), code(406))
		}),
		onWidgets(Case{
			ID: "PB-05", Level: Must, Title: "a custom resource in protobuf or else in JSON is JSON",
			Why:    "clients ask so for types that they do not know",
			Source: docProtobuf,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, get(c.path()).as(inProtobuf+", application/json"), code(200), mediaType("application/json"), kind(c.apiVersion, "WidgetList"))
		}),
		onSecrets(Case{
			ID: "PB-06", Level: Must, Title: "an error is a Status in protobuf for who asked for protobuf",
			Why:    "the client has no other decoder at hand",
			Source: "apiserver handlers/responsewriters",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, get(c.item("none")).as(inProtobuf), code(404), mediaType(inProtobuf), protobufStatus(metav1.StatusReasonNotFound))
		}),
		onSecrets(Case{
			ID: "PB-07", Level: Must, Title: "bytes that are no protobuf, or end too early, are refused",
			Why:    "what was sent is not what was meant",
			Source: "apimachinery runtime/serializer/protobuf",
		}, brokenProtobuf),
		onSecrets(Case{
			ID: "PB-07/kind", Level: Must, Title: "an envelope that says another kind is refused",
			Why:    "its bytes would be taken for the fields of the wrong type",
			Source: "apimachinery runtime/serializer/protobuf",
		}, func(ctx context.Context, s *session, c collection) error {
			body, err := inEnvelope(c.apiVersion, "ConfigMap", "a")
			if err != nil {
				return err
			}
			return s.try(ctx, protobufBody(post(c.path(), body)), refusal{
				code: 400, reason: metav1.StatusReasonBadRequest, says: `ConfigMap in version "v1" cannot be handled as a Secret: `,
			}.check)
		}),
	}
}

// inEnvelope is an object in protobuf with a name and a label and nothing else.
func inEnvelope(apiVersion, kind, name string) (string, error) {
	meta := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"in": "protobuf"}}}
	raw, err := meta.Marshal() // the metadata is the first field of every type
	if err != nil {
		return "", err
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	return "k8s\x00" + string(b), err
}

func protobufBody(c call) call {
	c.contentType = inProtobuf
	return c
}

// envelope expects a body in protobuf of this kind, and gives what is in it.
func envelope(a *answer, apiVersion, kind string) ([]byte, error) {
	inside, ok := strings.CutPrefix(string(a.body), "k8s\x00")
	if !ok {
		return nil, fmt.Errorf("expected the magic bytes of protobuf, got % x", a.body[:min(4, len(a.body))])
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

// protobufObject expects an object of the collection in protobuf, with its name and its label.
func protobufObject(c collection, name string) expectation {
	return func(a *answer) error {
		raw, err := envelope(a, c.apiVersion, c.kind)
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

// protobufStatus expects a Status with this reason in protobuf.
func protobufStatus(reason metav1.StatusReason) expectation {
	return func(a *answer) error {
		raw, err := envelope(a, "v1", "Status")
		if err != nil {
			return err
		}
		var s metav1.Status
		if err := s.Unmarshal(raw); err != nil {
			return fmt.Errorf("expected a Status: %w", err)
		}
		if s.Reason != reason || int(s.Code) != a.code {
			return fmt.Errorf("expected a Status %d %s, got %d %s", a.code, reason, s.Code, s.Reason)
		}
		return nil
	}
}

func protobufLife(ctx context.Context, s *session, c collection) error {
	body, err := inEnvelope(c.apiVersion, c.kind, "a")
	if err != nil {
		return err
	}
	whole := []expectation{mediaType(inProtobuf), protobufObject(c, "a")}
	if err := s.try(ctx, protobufBody(post(c.path(), body)).as(inProtobuf), append(whole, code(201))...); err != nil {
		return err
	}
	for _, again := range []call{protobufBody(put(c.item("a"), body)), get(c.item("a"))} {
		if err := s.try(ctx, again.as(inProtobuf), append(whole, code(200))...); err != nil {
			return err
		}
	}
	return s.try(ctx, get(c.item("a")), code(200), field("protobuf", "metadata", "labels", "in"))
}

func protobufEnvelopes(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for path, of := range inOrder(map[string]string{c.item("a"): c.kind, c.path(): c.kind + "List", c.item("none"): "Status"}) {
		if err := s.try(ctx, get(path).as(inProtobuf), func(a *answer) error {
			_, err := envelope(a, "v1", of)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func brokenProtobuf(ctx context.Context, s *session, c collection) error {
	whole, err := inEnvelope(c.apiVersion, c.kind, "a")
	if err != nil {
		return err
	}
	for body, says := range inOrder(map[string]string{
		"not protobuf": "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
		whole[:12]:     "unexpected EOF",
		"k8s\x00":      "empty body",
	}) {
		want := refusal{code: 400, reason: metav1.StatusReasonBadRequest, says: says}
		if err := s.try(ctx, protobufBody(post(c.path(), body)), want.check); err != nil {
			return err
		}
	}
	return nil
}
