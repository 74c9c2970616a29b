package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// value expects a value at a path of field names. Nil expects no field.
func value(want any, path ...string) expectation {
	return func(a *response) error {
		var o map[string]any
		if err := json.Unmarshal(a.body, &o); err != nil {
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
	return func(a *response) error {
		if value(nil, path...)(a) == nil {
			return fmt.Errorf("expected a %s, got none", strings.Join(path, "."))
		}
		return nil
	}
}

// finalizers expects an object with exactly these finalizers, in this order.
func finalizers(want ...string) expectation { return value(want, "metadata", "finalizers") }

// isTerminating expects an object with a deletionTimestamp and a grace period in seconds.
func isTerminating(grace int) expectation {
	return func(a *response) error {
		if err := hasField("metadata", "deletionTimestamp")(a); err != nil {
			return err
		}
		return value(grace, "metadata", "deletionGracePeriodSeconds")(a)
	}
}

// isDeletedStatus expects a Status of Success that identifies the deleted object.
func isDeletedStatus(c collection, o metav1.PartialObjectMetadata) expectation {
	return func(a *response) error {
		var got metav1.Status
		if err := json.Unmarshal(a.body, &got); err != nil {
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
