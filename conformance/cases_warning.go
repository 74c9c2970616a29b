package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	docWarning    = "Kubernetes API Concepts, Deprecation and warnings"
	warningFilter = "apiserver endpoints/filters/warning.go"
)

// warningCases returns the cases about Warning headers (WN).
func warningCases() []Case {
	return slices.Concat(
		onMaps(Case{
			ID: "WN-01", Level: Must, Title: "a warning is a header of the form 299 - \"text\", with the text quoted",
			Why:    "clients parse it",
			Source: docWarning,
		}, func(ctx context.Context, s *session, c collection) error {
			// The text has the name quoted for built-in types and as it is for custom resources.
			// The header quotes the text again.
			const quotedName = `a"b\c`
			text, header := `unknown field "a\"b\\c"`, `299 - "unknown field \"a\\\"b\\\\c\""`
			if c.isCustom() {
				text, header = `unknown field "a"b\c"`, `299 - "unknown field \"a\"b\\c\""`
			}
			return s.expect(ctx, post(c.path(), c.object("a").with(quotedName, 1)), code(201), warningsAre(text), func(r *response) error {
				if got := r.header.Values("Warning"); !slices.Equal(got, []string{header}) {
					return fmt.Errorf("expected the header Warning: %s, got %q", header, got)
				}
				return nil
			})
		}),
		onMap(Case{
			ID: "WN-02", Level: Must, Title: "a warning changes neither the code nor the body of the response",
			Why:    "clients that ignore warnings work as before",
			Source: docWarning,
		}, func(ctx context.Context, s *session, c collection) error {
			unknown := func(name string) object { return c.object(name).withData("k", "1").with("bogus", 1) }
			const warning = `unknown field "bogus"`
			b, err := s.doObject(ctx, post(c.path(), unknown("b")), code(201), warningsAre(warning), kind(c.apiVersion, c.kind))
			if err != nil {
				return err
			}
			return s.expectAll(ctx,
				send(put(c.item("b"), unknown("b").withMeta("resourceVersion", b.ResourceVersion)), code(200), warningsAre(warning), kind(c.apiVersion, c.kind)),
				send(post(c.path(), unknown("a")), alreadyExists(c, "a", "").check, warningsAre(warning)),
				send(get(c.item("b")), code(200), warningsAre()),
			)
		}),
		onMaps(Case{
			ID: "WN-03", Level: Must, Title: "duplicate warnings are sent once",
			Why:    "the user reads it once",
			Source: warningFilter,
		}, func(ctx context.Context, s *session, c collection) error {
			body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},"data":{"k":"1","k":"2","k":"3"},"bogus":1,"bogus":2,"bogus":3}`,
				c.apiVersion, c.kind)
			want := []string{`duplicate field "data.k"`, `unknown field "bogus"`}
			if c.isCustom() { // built-in types do not decode unknown fields further
				want = append(want, `duplicate field "bogus"`)
			}
			return s.expect(ctx, post(c.path(), body), code(201), warningsAre(want...))
		}),
		onMaps(Case{
			ID: "WN-04", Level: Should, Title: "warnings of more than 4096 characters in total are truncated to 256 each",
			Why:    "proxies limit the size of headers",
			Source: warningFilter,
		}, checkLongWarnings),
		[]Case{
			{
				ID: "WN-05/typed", Level: Should, Title: "a request for a deprecated API gets a warning that names the replacement",
				Why:    "users migrate before the API is removed",
				Source: docWarning, check: checkDeprecatedEndpoints,
			},
			onCollection((*session).dataCRs, Case{
				ID: "WN-05/custom", Level: Should, Title: "a request in a deprecated version of a CRD gets the warning of the CRD",
				Why:    "users migrate before the version is removed",
				Source: docWarning,
			}, func(ctx context.Context, s *session, c collection) error {
				old := c.inDeprecatedVersion()
				return s.expectAll(ctx,
					send(post(old.path(), old.object("a")), code(201), warningsAre(deprecationWarning)),
					send(get(old.item("a")), code(200), warningsAre(deprecationWarning)),
					send(get(old.path()), code(200), warningsAre(deprecationWarning)),
					send(get(c.item("a")), code(200), warningsAre()),
				)
			}),
		},
	)
}

// checkLongWarnings causes warnings that reach the limit of all warnings after each was cut.
func checkLongWarnings(ctx context.Context, s *session, c collection) error {
	const total, each = 4096, 256
	unknown := func(name string, fields, length int) object {
		o := c.object(name)
		for i := range fields {
			o[fmt.Sprintf("bogus%02d%s", i, strings.Repeat("x", length))] = 1
		}
		return o
	}
	runes := func(r *response) ([]int, error) {
		var lengths []int
		for _, line := range r.header.Values("Warning") {
			warning, _, err := utilnet.ParseWarningHeader(line)
			if err != nil {
				return nil, r.errorf("the header Warning: %s: %w", line, err)
			}
			lengths = append(lengths, utf8.RuneCountInString(warning.Text))
		}
		return lengths, nil
	}
	many := func(r *response) error {
		lengths, err := runes(r)
		if err == nil && !slices.Equal(lengths, slices.Repeat([]int{each}, total/each)) {
			err = fmt.Errorf("expected %d warnings of %d characters each, got %v", total/each, each, lengths)
		}
		return err
	}
	one := func(r *response) error {
		lengths, err := runes(r)
		if err == nil && (len(lengths) != 1 || lengths[0] < 1000) {
			err = fmt.Errorf("expected one warning in full length, got %v", lengths)
		}
		return err
	}
	return s.expectAll(ctx,
		send(post(c.path(), unknown("a", 30, 300)), code(201), many),
		send(post(c.path(), unknown("b", 1, 1000)), code(201), one),
	)
}

func checkDeprecatedEndpoints(ctx context.Context, s *session) error {
	if err := s.skipUnlessServed(ctx, "v1", "endpoints"); err != nil {
		return err
	}
	c, err := s.newCollection(ctx, collection{root: "/api/v1", apiVersion: "v1", kind: "Endpoints", resource: "endpoints"}, nil)
	if err != nil {
		return err
	}
	const warning = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
	return s.expectAll(ctx,
		send(post(c.path(), c.object("a")), code(201), warningsAre(warning)),
		send(get(c.item("a")), code(200), warningsAre(warning)),
		send(get(c.path()), code(200), warningsAre(warning)),
		send(get(c.item("none")), code(404), warningsAre(warning)),
	)
}
