package conformance

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	mediaTypeYAML  = "application/yaml"
	docNegotiation = "Kubernetes API Concepts, Alternate representations of resources"
	docNegotiator  = "apiserver handlers/negotiation"
)

// negotiationCases returns the cases about content negotiation (CN).
func negotiationCases() []Case {
	return []Case{
		onSecrets(Case{
			ID: "CN-01", Level: Must, Title: "a request without Accept, or with */*, gets JSON",
			Why:    "all kinds of clients rely on the default",
			Source: "API conventions, Serialization format",
		}, func(ctx context.Context, s *session, c collection) error {
			for _, accept := range []string{noAccept, "*/*", "text/html, application/*;q=0.9, */*;q=0.8"} {
				if err := s.expect(ctx, get(c.path()).withAccept(accept), code(200), mediaType("application/json"), kind(c.apiVersion, c.kind+"List")); err != nil {
					return err
				}
			}
			return nil
		}),
		onSecrets(Case{
			ID: "CN-02", Level: Must, Title: "objects can be written and read in YAML",
			Why:    "users and scripts send manifests unchanged",
			Source: docNegotiation,
		}, checkYAMLVerbs),
		onSecrets(Case{
			ID: "CN-02/document", Level: Must, Title: "only the first document of a YAML body is read, and a body that is not YAML is rejected",
			Why:    "the client must split its file",
			Source: "apimachinery runtime/serializer/json",
		}, checkYAMLDocuments),
		onSecrets(Case{
			ID: "CN-03", Level: Must, Title: "an unsupported media type is rejected with a list of the supported ones",
			Why:    "the client can repeat the request",
			Source: docNegotiator,
		}, checkNotAcceptable),
		onSecrets(Case{
			ID: "CN-04", Level: Must, Title: "the order and the quality values of Accept are respected",
			Why:    "the client gets its preferred encoding",
			Source: "RFC 9110, 12.5.1",
		}, checkAcceptOrder),
		onSecrets(Case{
			ID: "CN-05", Level: Should, Title: "JSON is indented on request, and for interactive tools",
			Why:    "users read it",
			Source: docNegotiator,
		}, checkPrettyJSON),
		onSecrets(Case{
			ID: "CN-06", Level: Must, Title: "the Content-Type of a response matches its encoding",
			Why:    "clients select the decoder by it",
			Source: docNegotiation,
		}, checkContentTypes),
		onSecrets(Case{
			ID: "CN-07", Level: Must, Title: "the encoding of the response is independent of that of the body",
			Why:    "clients write in one encoding and read in another",
			Source: docNegotiation,
		}, checkIndependentTypes),
		onSecrets(Case{
			ID: "CN-08", Level: Must, Title: "an error has the requested encoding, or JSON",
			Why:    "the client can decode it",
			Source: "apiserver handlers/responsewriters",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(get(c.item("none")).withAccept(mediaTypeYAML), code(404), mediaType(mediaTypeYAML), yamlContains("kind: Status\n", "reason: NotFound\n")),
				send(get(c.item("none")), code(404), mediaType("application/json"), kind("v1", "Status")),
				send(get(c.item("none")).withAccept("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"), code(404), mediaType("application/json"), kind("v1", "Status")),
				send(get(c.path()).withAccept("application/xml"), code(406), mediaType("application/json"), kind("v1", "Status")),
			)
		}),
	}
}

// yamlContains expects a YAML body that contains texts.
func yamlContains(texts ...string) expectation {
	return func(r *response) error {
		if _, err := yaml.ToJSON(r.body); err != nil || strings.HasPrefix(string(r.body), "{") {
			return fmt.Errorf("expected YAML, got an error %v", err)
		}
		for _, text := range texts {
			if !strings.Contains(string(r.body), text) {
				return fmt.Errorf("expected %q in it", text)
			}
		}
		return nil
	}
}

func (c collection) yamlObject(name string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", c.apiVersion, c.kind, name)
}

func withYAMLBody(c call) call {
	c.contentType = mediaTypeYAML
	return c
}

func checkYAMLVerbs(ctx context.Context, s *session, c collection) error {
	object := yamlContains("kind: "+c.kind+"\n", "  name: a\n", "  resourceVersion: \"")
	return s.expectAll(ctx,
		send(withYAMLBody(post(c.path(), c.yamlObject("a"))).withAccept(mediaTypeYAML), code(201), mediaType(mediaTypeYAML), object),
		send(withYAMLBody(put(c.item("a"), c.yamlObject("a"))).withAccept(mediaTypeYAML), code(200), mediaType(mediaTypeYAML), object),
		send(get(c.item("a")).withAccept(mediaTypeYAML), code(200), mediaType(mediaTypeYAML), object),
		send(get(c.path()).withAccept(mediaTypeYAML), code(200), mediaType(mediaTypeYAML), yamlContains("kind: "+c.kind+"List\n", "items:\n- ")),
		send(withYAMLBody(del(c.item("a")).withBody("propagationPolicy: Background\n")).withAccept(mediaTypeYAML), code(200), mediaType(mediaTypeYAML), yamlContains("status: Success\n")),
	)
}

// withBody sets the body.
func (c call) withBody(body any) call {
	c.body = body
	return c
}

func checkYAMLDocuments(ctx context.Context, s *session, c collection) error {
	if err := s.expect(ctx, withYAMLBody(post(c.path(), c.yamlObject("a")+"---\n"+c.yamlObject("b"))), code(201), field("a", "metadata", "name")); err != nil {
		return err
	}
	if err := s.expect(ctx, get(c.item("b")), code(404)); err != nil {
		return err
	}
	return s.expect(ctx, withYAMLBody(post(c.path(), "kind: [\n")), failure{
		code: 400, reason: metav1.StatusReasonBadRequest, contains: "the object provided is unrecognized (must be of type " + c.kind + "): ",
	}.check)
}

func checkNotAcceptable(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	const known = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
	rejected := func(r call, text string) exchange {
		return send(r, failure{code: 406, reason: metav1.StatusReasonNotAcceptable, contains: text}.check)
	}
	return s.expectAll(ctx,
		rejected(get(c.item("a")).withAccept("application/xml"), "406: Not Acceptable\n\nAvailable representations: "+known),
		rejected(get(c.item("a")).withAccept("application/*"), "406: Not Acceptable\n\nAvailable representations: "+known),
		rejected(get(c.path()).withAccept("text/html"), "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"),
		rejected(get(c.item("a")).withAccept("application/json;as=Nope;v=v1;g=meta.k8s.io"), "only the following media types are accepted: "+known),
		rejected(get(c.item("a")).withAccept("application/json;as=PartialObjectMetadata;v=v1"), "only the following media types are accepted: "+known),
		rejected(get(c.item("a")).withAccept("application/json;v=v1"), "only the following media types are accepted: "+known),
	)
}

func checkAcceptOrder(ctx context.Context, s *session, c collection) error {
	for accept, want := range sortedByKey(map[string]string{
		"application/json;q=0.5,application/yaml":                           mediaTypeYAML,
		"application/yaml;q=0.5,application/json":                           "application/json",
		"application/yaml,application/json":                                 mediaTypeYAML,
		"application/xml,application/yaml":                                  mediaTypeYAML,
		"application/json;q=0.1," + mediaTypeProtobuf + ";q=0.9,*/*;q=0.05": mediaTypeProtobuf,
		"application/json;stream=other,application/yaml":                    mediaTypeYAML,
		"application/json;as=Nope;v=v1;g=meta.k8s.io,application/yaml":      mediaTypeYAML,
		"application/json;sv=v2,application/yaml":                           mediaTypeYAML,
		"application/*,application/yaml":                                    mediaTypeYAML,
		"application/json;charset=utf-8;unknown=parameter,application/yaml": "application/json",
	}) {
		if err := s.expect(ctx, get(c.path()).withAccept(accept), code(200), mediaType(want)); err != nil {
			return fmt.Errorf("with Accept %s: %w", accept, err)
		}
	}
	return nil
}

func checkPrettyJSON(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for _, path := range []string{c.item("a"), c.path(), c.item("none")} {
		for _, indented := range []call{
			get(path + "?pretty=1"), get(path + "?pretty=true"), get(path).withAccept("application/json;pretty=1"),
			get(path).withUserAgent("curl/8.0"), get(path).withUserAgent("Wget/1.2"), get(path).withUserAgent("Mozilla/5.0 (X11)"),
		} {
			if err := s.expect(ctx, indented, isIndented(true)); err != nil {
				return err
			}
		}
		for _, plain := range []call{
			get(path), get(path + "?pretty=false"), get(path + "?pretty=0").withUserAgent("curl/8.0"), get(path + "?pretty=maybe"),
			get(path).withAccept("application/json;pretty=true"),
		} {
			if err := s.expect(ctx, plain, isIndented(false)); err != nil {
				return err
			}
		}
	}
	return s.expect(ctx, get(c.item("a")+"?pretty=1").withAccept(mediaTypeYAML), code(200), yamlContains("kind: "+c.kind+"\n"))
}

// isIndented expects JSON with or without indentation.
func isIndented(want bool) expectation {
	return func(r *response) error {
		lines := strings.Count(strings.TrimSpace(string(r.body)), "\n")
		switch {
		case want && !strings.HasPrefix(string(r.body), "{\n  \""):
			return fmt.Errorf("expected indented JSON")
		case !want && lines > 0:
			return fmt.Errorf("expected JSON on one line, got %d", lines+1)
		}
		return nil
	}
}

func checkContentTypes(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	forms := map[string]expectation{
		"application/json": isIndented(false), mediaTypeYAML: yamlContains(),
		mediaTypeProtobuf: func(r *response) error {
			if !strings.HasPrefix(string(r.body), "k8s\x00") {
				return fmt.Errorf("expected protobuf")
			}
			return nil
		},
	}
	for media, form := range sortedByKey(forms) {
		for _, path := range []string{c.item("a"), c.path(), c.item("none"), "/api/v1"} {
			if err := s.expect(ctx, get(path).withAccept(media), mediaType(media), form); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkIndependentTypes(ctx context.Context, s *session, c collection) error {
	body, err := encodeProtobuf(c.apiVersion, c.kind, "b")
	if err != nil {
		return err
	}
	return s.expectAll(ctx,
		send(post(c.path(), c.object("a")).withAccept(mediaTypeYAML), code(201), mediaType(mediaTypeYAML), yamlContains("  name: a\n")),
		send(withProtobufBody(post(c.path(), body)).withAccept("application/json"), code(201), mediaType("application/json"), field("b", "metadata", "name")),
		send(withYAMLBody(post(c.path(), c.yamlObject("c"))).withAccept(mediaTypeProtobuf), code(201), mediaType(mediaTypeProtobuf)),
	)
}
