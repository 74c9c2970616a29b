package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// The media types of patches.
const (
	jsonPatchType      = "application/json-patch+json"
	mergePatchType     = "application/merge-patch+json"
	strategicPatchType = "application/strategic-merge-patch+json"
	applyPatchType     = "application/apply-patch+yaml"
	cborApplyType      = "application/apply-patch+cbor"
)

func patch(mediaType, path string, body any) call {
	return call{method: http.MethodPatch, path: path, body: body, contentType: mediaType}
}

func jsonPatch(path string, operations ...object) call {
	return patch(jsonPatchType, path, operations)
}

func strategicPatch(path string, body any) call { return patch(strategicPatchType, path, body) }

// applyAs returns a server-side apply with a field manager.
func applyAs(manager, path string, body any) call {
	return patch(applyPatchType, path, body).withQuery("fieldManager=" + manager)
}

// withQuery adds query parameters.
func (c call) withQuery(parameters string) call {
	separator := "?"
	if strings.Contains(c.path, "?") {
		separator = "&"
	}
	c.path += separator + parameters
	return c
}

// withUserAgent sets the User-Agent.
func (c call) withUserAgent(agent string) call {
	c.agent = agent
	return c
}

// exchange is a call and the expectations for its response.
type exchange struct {
	call   call
	expect []expectation
}

func send(c call, expect ...expectation) exchange { return exchange{c, expect} }

// expectAll sends calls one after the other, until a response does not meet its expectations.
func (s *session) expectAll(ctx context.Context, exchanges ...exchange) error {
	for _, one := range exchanges {
		if err := s.expect(ctx, one.call, one.expect...); err != nil {
			return err
		}
	}
	return nil
}

// valueAt returns the value at a path of field names and indices, or nil if there is none.
func (a *response) valueAt(path ...string) (any, error) {
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		return nil, fmt.Errorf("expected JSON: %w", err)
	}
	for _, name := range path {
		switch in := value.(type) {
		case map[string]any:
			value = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return nil, nil
			}
			value = in[i]
		default:
			return nil, nil
		}
	}
	return value, nil
}

// valueAt expects a value at a path of field names and indices. Nil expects that there is none.
func valueAt(want any, path ...string) expectation {
	return func(a *response) error {
		got, err := a.valueAt(path...)
		if err != nil {
			return err
		}
		encoded, err := json.Marshal(want)
		if err != nil {
			return err
		}
		var same any
		if err := json.Unmarshal(encoded, &same); err != nil {
			return err
		}
		if !reflect.DeepEqual(same, got) {
			return fmt.Errorf("expected %s to be %s, got %v", strings.Join(path, "."), encoded, got)
		}
		return nil
	}
}

// itemsHave expects a list at a path whose items have these values in a field, in this order.
func itemsHave(want []string, field string, path ...string) expectation {
	return func(a *response) error {
		here, err := a.valueAt(path...)
		if err != nil {
			return err
		}
		items, _ := here.([]any)
		var got []string
		for _, item := range items {
			fields, _ := item.(map[string]any)
			got = append(got, fmt.Sprint(fields[field]))
		}
		if !slices.Equal(want, got) {
			return fmt.Errorf("expected %s to have items with the %s %v, got %v", strings.Join(path, "."), field, want, got)
		}
		return nil
	}
}

// isUnchanged expects an object with the same uid and resourceVersion.
func isUnchanged(before metav1.PartialObjectMetadata) expectation {
	return func(a *response) error {
		var now metav1.PartialObjectMetadata
		if err := a.decode(&now); err != nil {
			return err
		}
		if now.UID != before.UID || now.ResourceVersion != before.ResourceVersion {
			return fmt.Errorf("expected uid %s at resourceVersion %s, got %s at %s", before.UID, before.ResourceVersion, now.UID, now.ResourceVersion)
		}
		return nil
	}
}

// warningsAre expects Warning headers with exactly these texts, in any order.
func warningsAre(want ...string) expectation {
	return func(a *response) error {
		var got []string
		for _, line := range a.header.Values("Warning") {
			warning, rest, err := utilnet.ParseWarningHeader(line)
			if err != nil || rest != "" || warning.Code != 299 || warning.Agent != "-" {
				return fmt.Errorf(`expected a header of the form 299 - "text", got %s`, line)
			}
			got = append(got, warning.Text)
		}
		if !slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))) {
			return fmt.Errorf("expected the warnings %q, got %q", want, got)
		}
		return nil
	}
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
