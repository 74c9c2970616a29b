package conformance

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	inYAML         = "application/yaml"
	docNegotiation = "Kubernetes API Concepts, Alternate representations of resources"
	docNegotiator  = "apiserver handlers/negotiation"
)

// negotiationCases are about the choice of an encoding (CN).
func negotiationCases() []Case {
	return []Case{
		onSecrets(Case{
			ID: "CN-01", Level: Must, Title: "who asks for nothing, or for anything, gets JSON",
			Why:    "clients of all kinds rely on the default",
			Source: "API conventions, Serialization format",
		}, func(ctx context.Context, s *session, c collection) error {
			for _, accept := range []string{noAccept, "*/*", "text/html, application/*;q=0.9, */*;q=0.8"} {
				if err := s.try(ctx, get(c.path()).as(accept), code(200), mediaType("application/json"), kind(c.apiVersion, c.kind+"List")); err != nil {
					return err
				}
			}
			return nil
		}),
		onSecrets(Case{
			ID: "CN-02", Level: Must, Title: "objects are written and read in YAML",
			Why:    "people and scripts send manifests as they are",
			Source: docNegotiation,
		}, yamlLife),
		onSecrets(Case{
			ID: "CN-02/document", Level: Must, Title: "of a body in YAML the first document counts, and what is no YAML is refused",
			Why:    "the client learns that it has to split its file",
			Source: "apimachinery runtime/serializer/json",
		}, yamlDocuments),
		onSecrets(Case{
			ID: "CN-03", Level: Must, Title: "a media type that nobody serves is refused with a list of those that are there",
			Why:    "the client can ask again",
			Source: docNegotiator,
		}, unacceptable),
		onSecrets(Case{
			ID: "CN-04", Level: Must, Title: "the order and the quality values of Accept are honoured",
			Why:    "the client gets what it can read best",
			Source: "RFC 9110, 12.5.1",
		}, preferences),
		onSecrets(Case{
			ID: "CN-05", Level: Should, Title: "JSON is indented for who asks for it, and for tools that people read",
			Why:    "people look at it",
			Source: docNegotiator,
		}, prettyAnswers),
		onSecrets(Case{
			ID: "CN-06", Level: Must, Title: "the Content-Type of an answer says how it is encoded",
			Why:    "clients choose the decoder by it",
			Source: docNegotiation,
		}, truthfulTypes),
		onSecrets(Case{
			ID: "CN-07", Level: Must, Title: "the encoding of the answer has nothing to do with that of the body",
			Why:    "clients write in one form and read in another",
			Source: docNegotiation,
		}, independentTypes),
		onSecrets(Case{
			ID: "CN-08", Level: Must, Title: "an error comes in the encoding that was asked for, and in JSON if there is none",
			Why:    "the client can read why",
			Source: "apiserver handlers/responsewriters",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(get(c.item("none")).as(inYAML), code(404), mediaType(inYAML), saysYAML("kind: Status\n", "reason: NotFound\n")),
				ask(get(c.item("none")), code(404), mediaType("application/json"), kind("v1", "Status")),
				ask(get(c.item("none")).as("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"), code(404), mediaType("application/json"), kind("v1", "Status")),
				ask(get(c.path()).as("application/xml"), code(406), mediaType("application/json"), kind("v1", "Status")),
			)
		}),
	}
}

// saysYAML expects texts in a body that is read as YAML.
func saysYAML(texts ...string) expectation {
	return func(a *answer) error {
		if _, err := yaml.ToJSON(a.body); err != nil || strings.HasPrefix(string(a.body), "{") {
			return fmt.Errorf("expected YAML, got an error %v", err)
		}
		for _, text := range texts {
			if !strings.Contains(string(a.body), text) {
				return fmt.Errorf("expected %q in it", text)
			}
		}
		return nil
	}
}

func (c collection) inYAML(name string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", c.apiVersion, c.kind, name)
}

func yamlBody(c call) call {
	c.contentType = inYAML
	return c
}

func yamlLife(ctx context.Context, s *session, c collection) error {
	object := saysYAML("kind: "+c.kind+"\n", "  name: a\n", "  resourceVersion: \"")
	return s.all(ctx,
		ask(yamlBody(post(c.path(), c.inYAML("a"))).as(inYAML), code(201), mediaType(inYAML), object),
		ask(yamlBody(put(c.item("a"), c.inYAML("a"))).as(inYAML), code(200), mediaType(inYAML), object),
		ask(get(c.item("a")).as(inYAML), code(200), mediaType(inYAML), object),
		ask(get(c.path()).as(inYAML), code(200), mediaType(inYAML), saysYAML("kind: "+c.kind+"List\n", "items:\n- ")),
		ask(yamlBody(del(c.item("a")).sending("propagationPolicy: Background\n")).as(inYAML), code(200), mediaType(inYAML), saysYAML("status: Success\n")),
	)
}

// sending gives a call a body.
func (c call) sending(body any) call {
	c.body = body
	return c
}

func yamlDocuments(ctx context.Context, s *session, c collection) error {
	if err := s.try(ctx, yamlBody(post(c.path(), c.inYAML("a")+"---\n"+c.inYAML("b"))), code(201), field("a", "metadata", "name")); err != nil {
		return err
	}
	if err := s.try(ctx, get(c.item("b")), code(404)); err != nil {
		return err
	}
	return s.try(ctx, yamlBody(post(c.path(), "kind: [\n")), refusal{
		code: 400, reason: metav1.StatusReasonBadRequest, says: "the object provided is unrecognized (must be of type " + c.kind + "): ",
	}.check)
}

func unacceptable(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	const known = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
	refused := func(r call, says string) exchange {
		return ask(r, refusal{code: 406, reason: metav1.StatusReasonNotAcceptable, says: says}.check)
	}
	return s.all(ctx,
		refused(get(c.item("a")).as("application/xml"), "406: Not Acceptable\n\nAvailable representations: "+known),
		refused(get(c.item("a")).as("application/*"), "406: Not Acceptable\n\nAvailable representations: "+known),
		refused(get(c.path()).as("text/html"), "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"),
		refused(get(c.item("a")).as("application/json;as=Nope;v=v1;g=meta.k8s.io"), "only the following media types are accepted: "+known),
		refused(get(c.item("a")).as("application/json;as=PartialObjectMetadata;v=v1"), "only the following media types are accepted: "+known),
		refused(get(c.item("a")).as("application/json;v=v1"), "only the following media types are accepted: "+known),
	)
}

func preferences(ctx context.Context, s *session, c collection) error {
	for accept, want := range inOrder(map[string]string{
		"application/json;q=0.5,application/yaml":                           inYAML,
		"application/yaml;q=0.5,application/json":                           "application/json",
		"application/yaml,application/json":                                 inYAML,
		"application/xml,application/yaml":                                  inYAML,
		"application/json;q=0.1," + inProtobuf + ";q=0.9,*/*;q=0.05":        inProtobuf,
		"application/json;stream=other,application/yaml":                    inYAML,
		"application/json;as=Nope;v=v1;g=meta.k8s.io,application/yaml":      inYAML,
		"application/json;sv=v2,application/yaml":                           inYAML,
		"application/*,application/yaml":                                    inYAML,
		"application/json;charset=utf-8;unknown=parameter,application/yaml": "application/json",
	}) {
		if err := s.try(ctx, get(c.path()).as(accept), code(200), mediaType(want)); err != nil {
			return fmt.Errorf("with Accept %s: %w", accept, err)
		}
	}
	return nil
}

func prettyAnswers(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for _, path := range []string{c.item("a"), c.path(), c.item("none")} {
		for _, indented := range []call{
			get(path + "?pretty=1"), get(path + "?pretty=true"), get(path).as("application/json;pretty=1"),
			get(path).from("curl/8.0"), get(path).from("Wget/1.2"), get(path).from("Mozilla/5.0 (X11)"),
		} {
			if err := s.try(ctx, indented, indentation(true)); err != nil {
				return err
			}
		}
		for _, plain := range []call{
			get(path), get(path + "?pretty=false"), get(path + "?pretty=0").from("curl/8.0"), get(path + "?pretty=maybe"),
			get(path).as("application/json;pretty=true"),
		} {
			if err := s.try(ctx, plain, indentation(false)); err != nil {
				return err
			}
		}
	}
	return s.try(ctx, get(c.item("a")+"?pretty=1").as(inYAML), code(200), saysYAML("kind: "+c.kind+"\n"))
}

// indentation expects JSON on many lines, or on one.
func indentation(want bool) expectation {
	return func(a *answer) error {
		lines := strings.Count(strings.TrimSpace(string(a.body)), "\n")
		switch {
		case want && !strings.HasPrefix(string(a.body), "{\n  \""):
			return fmt.Errorf("expected indented JSON")
		case !want && lines > 0:
			return fmt.Errorf("expected JSON on one line, got %d", lines+1)
		}
		return nil
	}
}

func truthfulTypes(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	forms := map[string]expectation{
		"application/json": indentation(false), inYAML: saysYAML(),
		inProtobuf: func(a *answer) error {
			if !strings.HasPrefix(string(a.body), "k8s\x00") {
				return fmt.Errorf("expected protobuf")
			}
			return nil
		},
	}
	for media, form := range inOrder(forms) {
		for _, path := range []string{c.item("a"), c.path(), c.item("none"), "/api/v1"} {
			if err := s.try(ctx, get(path).as(media), mediaType(media), form); err != nil {
				return err
			}
		}
	}
	return nil
}

func independentTypes(ctx context.Context, s *session, c collection) error {
	body, err := inEnvelope(c.apiVersion, c.kind, "b")
	if err != nil {
		return err
	}
	return s.all(ctx,
		ask(post(c.path(), c.object("a")).as(inYAML), code(201), mediaType(inYAML), saysYAML("  name: a\n")),
		ask(protobufBody(post(c.path(), body)).as("application/json"), code(201), mediaType("application/json"), field("b", "metadata", "name")),
		ask(yamlBody(post(c.path(), c.inYAML("c"))).as(inProtobuf), code(201), mediaType(inProtobuf)),
	)
}
