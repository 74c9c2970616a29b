package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// value expects a value at a path of field names. Nil expects no field.
func value(want any, path ...string) expectation {
	return func(r *response) error {
		var o map[string]any
		if err := json.Unmarshal(r.body, &o); err != nil {
			return fmt.Errorf("expected an object: %w", err)
		}
		got, found, err := unstructured.NestedFieldNoCopy(o, path...)
		if err != nil {
			return err
		}
		at := strings.Join(path, ".")
		switch {
		case want == nil && found:
			return fmt.Errorf("expected no %s, got %v", at, got)
		case want == nil:
			return nil
		case !found:
			return fmt.Errorf("expected %s to be %v, got none", at, want)
		case !reflect.DeepEqual(got, jsonRoundTrip(want)):
			return fmt.Errorf("expected %s to be %v, got %v", at, want, got)
		}
		return nil
	}
}

// jsonRoundTrip returns a value as decoded from its JSON encoding.
func jsonRoundTrip(v any) any {
	encoded, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var out any
	if err := json.Unmarshal(encoded, &out); err != nil {
		return err
	}
	return out
}

// hasField expects any value at a path of field names.
func hasField(path ...string) expectation {
	return func(r *response) error {
		if value(nil, path...)(r) == nil {
			return fmt.Errorf("expected a %s, got none", strings.Join(path, "."))
		}
		return nil
	}
}

// finalizers expects an object with exactly these finalizers, in this order.
func finalizers(want ...string) expectation { return value(want, "metadata", "finalizers") }

// isTerminating expects an object with a deletionTimestamp and a grace period in seconds.
func isTerminating(grace int) expectation {
	return func(r *response) error {
		if err := hasField("metadata", "deletionTimestamp")(r); err != nil {
			return err
		}
		return value(grace, "metadata", "deletionGracePeriodSeconds")(r)
	}
}

// isDeletedStatus expects a Status of Success that identifies the deleted object.
func isDeletedStatus(c collection, o metav1.PartialObjectMetadata) expectation {
	return func(r *response) error {
		var got metav1.Status
		if err := json.Unmarshal(r.body, &got); err != nil {
			return fmt.Errorf("expected a Status: %w", err)
		}
		if got.Kind != "Status" || got.Status != metav1.StatusSuccess {
			return fmt.Errorf("expected a Status with Success, got kind %q, status %q", got.Kind, got.Status)
		}
		want := metav1.StatusDetails{Name: o.Name, Group: c.group, Kind: c.resource, UID: o.UID}
		if got.Details == nil || !reflect.DeepEqual(*got.Details, want) {
			return fmt.Errorf("expected the details %+v, got %+v", want, got.Details)
		}
		return nil
	}
}

// valueAt returns the value at a path of field names and indices, or nil if there is none.
func (r *response) valueAt(path ...string) (any, error) {
	var value any
	if err := json.Unmarshal(r.body, &value); err != nil {
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
	return func(r *response) error {
		got, err := r.valueAt(path...)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(got, jsonRoundTrip(want)) {
			return fmt.Errorf("expected %s to be %v, got %v", strings.Join(path, "."), want, got)
		}
		return nil
	}
}

// textAt expects a string that contains a text, at a path of field names and indices.
func textAt(want string, path ...string) expectation {
	return func(r *response) error {
		got, err := r.valueAt(path...)
		if err != nil {
			return err
		}
		if text, _ := got.(string); !strings.Contains(text, want) {
			return fmt.Errorf("expected %s to contain %q, got %v", strings.Join(path, "."), want, got)
		}
		return nil
	}
}

// itemsHave expects a list at a path whose items have these values in a field, in this order.
func itemsHave(want []string, field string, path ...string) expectation {
	return func(r *response) error {
		here, err := r.valueAt(path...)
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
	return func(r *response) error {
		var now metav1.PartialObjectMetadata
		if err := r.decode(&now); err != nil {
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
	return func(r *response) error {
		var got []string
		for _, line := range r.header.Values("Warning") {
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
