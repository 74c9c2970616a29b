package conformance

import (
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// expectation checks a response. Its error contains what was expected and what was received;
// callers add the request and the response.
type expectation func(*response) error

// code expects one of the status codes.
func code(want ...int) expectation {
	return func(r *response) error {
		if !slices.Contains(want, r.code) {
			return fmt.Errorf("expected code %s, got %d", strings.Trim(fmt.Sprint(want), "[]"), r.code)
		}
		return nil
	}
}

// mediaType expects a Content-Type, with any parameters.
func mediaType(want string) expectation {
	return func(r *response) error {
		got, _, err := mime.ParseMediaType(r.header.Get("Content-Type"))
		if err != nil || got != want {
			return fmt.Errorf("expected Content-Type %s, got %q", want, r.header.Get("Content-Type"))
		}
		return nil
	}
}

// kind expects an object or a list with an apiVersion and a kind.
func kind(apiVersion, kind string) expectation {
	return func(r *response) error {
		var got metav1.TypeMeta
		if err := json.Unmarshal(r.body, &got); err != nil {
			return fmt.Errorf("expected a %s: %w", kind, err)
		}
		if want := (metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}); got != want {
			return fmt.Errorf("expected %s %s, got %q %q", apiVersion, kind, got.APIVersion, got.Kind)
		}
		return nil
	}
}

// field expects a string at a path of field names.
func field(want string, path ...string) expectation {
	return func(r *response) error {
		var o map[string]any
		if err := json.Unmarshal(r.body, &o); err != nil {
			return fmt.Errorf("expected an object: %w", err)
		}
		got, found, err := unstructured.NestedString(o, path...)
		if err != nil {
			return err
		}
		if !found || got != want {
			return fmt.Errorf("expected %s to be %q, got %q", strings.Join(path, "."), want, got)
		}
		return nil
	}
}

// pageNotFound expects the text response of a mux that does not have the path.
func pageNotFound(r *response) error {
	if err := code(404)(r); err != nil {
		return err
	}
	if err := mediaType("text/plain")(r); err != nil {
		return err
	}
	if got := strings.TrimSpace(string(r.body)); got != "404 page not found" {
		return fmt.Errorf(`expected the text "404 page not found", got %q`, got)
	}
	return nil
}

// failure is an expected Status of status "Failure". Code and reason are always compared, the other
// fields if they are set.
type failure struct {
	code     int
	reason   metav1.StatusReason // "" is compared too, because unclassified errors have no reason
	message  string              // the complete message
	contains string              // a part of the message
	details  *metav1.StatusDetails
	causes   []metav1.StatusCause // the complete list of reason, field and a part of the message, in any order
}

// check is an expectation.
func (want failure) check(r *response) error {
	if err := code(want.code)(r); err != nil {
		return err
	}
	var got metav1.Status
	if err := json.Unmarshal(r.body, &got); err != nil {
		return fmt.Errorf("expected a Status: %w", err)
	}
	return want.match(got)
}

// match compares a Status with the expected one.
func (want failure) match(got metav1.Status) error {
	switch {
	case got.Kind != "Status" || got.APIVersion != "v1":
		return fmt.Errorf("expected a v1 Status, got %q %q", got.APIVersion, got.Kind)
	case got.Status != metav1.StatusFailure:
		return fmt.Errorf("expected status Failure, got %q", got.Status)
	case int(got.Code) != want.code:
		return fmt.Errorf("expected code %d in the Status, got %d", want.code, got.Code)
	case got.Reason != want.reason:
		return fmt.Errorf("expected reason %q, got %q", want.reason, got.Reason)
	case want.message != "" && got.Message != want.message:
		return fmt.Errorf("expected message %q, got %q", want.message, got.Message)
	case !strings.Contains(got.Message, want.contains):
		return fmt.Errorf("expected a message with %q, got %q", want.contains, got.Message)
	}
	var details metav1.StatusDetails
	if got.Details != nil {
		details = *got.Details
	}
	if err := matchDetails(want.details, details); err != nil {
		return err
	}
	return matchCauses(want.causes, details.Causes)
}

func matchDetails(want *metav1.StatusDetails, got metav1.StatusDetails) error {
	if want == nil {
		return nil
	}
	type summary struct {
		name, group, kind string
		retryAfter        int32
	}
	w := summary{want.Name, want.Group, want.Kind, want.RetryAfterSeconds}
	if g := (summary{got.Name, got.Group, got.Kind, got.RetryAfterSeconds}); w != g {
		return fmt.Errorf("expected details with {name group kind retryAfterSeconds} %v, got %v", w, g)
	}
	return nil
}

func matchCauses(want, got []metav1.StatusCause) error {
	if want == nil {
		return nil
	}
	same := func(w, g metav1.StatusCause) bool {
		return w.Type == g.Type && w.Field == g.Field && strings.Contains(g.Message, w.Message)
	}
	left := slices.Clone(got)
	for _, w := range want {
		i := slices.IndexFunc(left, func(g metav1.StatusCause) bool { return same(w, g) })
		if i < 0 {
			return fmt.Errorf("expected a cause %s of field %q with %q, got %v", w.Type, w.Field, w.Message, got)
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		return fmt.Errorf("expected %d causes, also got %v", len(want), left)
	}
	return nil
}

// invalidField is the failure of an invalid object with these causes.
func (c collection) invalidField(name string, causes ...metav1.StatusCause) failure {
	return failure{
		code: 422, reason: metav1.StatusReasonInvalid, causes: causes,
		details:  &metav1.StatusDetails{Name: name, Group: c.group, Kind: c.kind},
		contains: fmt.Sprintf("%s %q is invalid: ", c.groupKind(), name),
	}
}

// invalidPatch is the failure of a patch whose result cannot be decoded, with a message that
// contains a text.
func invalidPatch(text string) failure {
	return failure{
		code: 422, reason: metav1.StatusReasonInvalid, contains: ` "" is invalid: patch: Invalid value: `,
		details: &metav1.StatusDetails{},
		causes:  []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "patch", Message: text}},
	}
}

// invalidOption is the failure of a request with an invalid parameter.
func invalidOption(options, parameter string, reason metav1.CauseType, text string) failure {
	return failure{
		code: 422, reason: metav1.StatusReasonInvalid,
		message: fmt.Sprintf(`%s.meta.k8s.io "" is invalid: %s: %s`, options, parameter, text),
		details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: options},
		causes:  []metav1.StatusCause{{Type: reason, Field: parameter, Message: text}},
	}
}

// modifiedConflict is the failure of a write with an old resourceVersion.
func modifiedConflict(c collection, name string) failure {
	return failure{
		code: 409, reason: metav1.StatusReasonConflict, details: c.statusDetails(name),
		message: fmt.Sprintf(`Operation cannot be fulfilled on %s %q: the object has been modified; please apply your changes to the latest version and try again`,
			c.groupResource(), name),
	}
}
