package conformance

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// metadata expects an object whose metadata passes a check.
func metadata(check func(metav1.ObjectMeta) error) expectation {
	return func(r *response) error {
		var o metav1.PartialObjectMetadata
		if err := json.Unmarshal(r.body, &o); err != nil {
			return fmt.Errorf("expected an object: %w", err)
		}
		return check(o.ObjectMeta)
	}
}

// hasUID expects an object with a uid.
func hasUID(uid types.UID) expectation { return field(string(uid), "metadata", "uid") }

// atResourceVersion expects an object with a resourceVersion.
func atResourceVersion(resourceVersion string) expectation {
	return field(resourceVersion, "metadata", "resourceVersion")
}

// generation expects an object with a generation.
func generation(want int64) expectation {
	return metadata(func(m metav1.ObjectMeta) error {
		if m.Generation != want {
			return fmt.Errorf("expected generation %d, got %d", want, m.Generation)
		}
		return nil
	})
}

// noField expects that there is no field at a path, not even null.
func noField(path ...string) expectation { return value(nil, path...) }

// matchesPattern expects a string at a path that matches a pattern.
func matchesPattern(pattern *regexp.Regexp, path ...string) expectation {
	return func(r *response) error {
		var o map[string]any
		if err := json.Unmarshal(r.body, &o); err != nil {
			return fmt.Errorf("expected an object: %w", err)
		}
		got, _, err := unstructured.NestedString(o, path...)
		if err != nil {
			return err
		}
		if !pattern.MatchString(got) {
			return fmt.Errorf("expected %s to match %s, got %q", strings.Join(path, "."), pattern, got)
		}
		return nil
	}
}

// hasWarning expects a Warning header that contains a text.
func hasWarning(text string) expectation {
	return func(r *response) error {
		for _, got := range r.header.Values("Warning") {
			if strings.Contains(got, text) {
				return nil
			}
		}
		return fmt.Errorf("expected a Warning header with %q, got %q", text, r.header.Values("Warning"))
	}
}

// invalid expects an Invalid response with one cause, which may be repeated.
func (c collection) invalid(name string, cause metav1.CauseType, field, text string) expectation {
	want := failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: name, Group: c.group, Kind: c.kind},
		contains: c.groupKind() + " " + fmt.Sprintf("%q", name) + " is invalid: " + field + ": ",
	}
	return func(r *response) error {
		if err := want.check(r); err != nil {
			return err
		}
		var got metav1.Status
		if err := json.Unmarshal(r.body, &got); err != nil {
			return err
		}
		for _, g := range got.Details.Causes {
			if g.Type != cause || g.Field != field || !strings.Contains(g.Message, text) {
				return fmt.Errorf("expected only the cause %s of field %q with %q, got %v", cause, field, text, got.Details.Causes)
			}
		}
		if len(got.Details.Causes) == 0 {
			return fmt.Errorf("expected the cause %s of field %q with %q, got none", cause, field, text)
		}
		return nil
	}
}
