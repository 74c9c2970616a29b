package events

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// controllerField is the name of reportingController in errors.
const controllerField = "reportingController"

// validateNewEvent validates a new event, which must not have the deprecated fields. The errors
// name fields of the core group, except for controllerField.
func validateNewEvent(_ context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList {
	var root *validate.Path
	event := obj.(*corev1.Event)
	errs := append(core.ValidateEvent(event, controllerField), metadata...)
	errs = append(errs, validateSeries(event.Series)...)
	if event.EventTime.IsZero() {
		errs = append(errs, root.Child("eventTime").Required(""))
	}
	if event.Type != corev1.EventTypeNormal && event.Type != corev1.EventTypeWarning {
		errs = append(errs, root.Child("type").Invalid("", fmt.Sprintf("has invalid value: %v", event.Type)))
	}
	for _, deprecated := range []struct {
		name  string
		isSet bool
	}{
		{"firstTimestamp", !event.FirstTimestamp.IsZero()},
		{"lastTimestamp", !event.LastTimestamp.IsZero()},
		{"count", event.Count != 0},
		{"source", event.Source != corev1.EventSource{}},
	} {
		if deprecated.isSet {
			errs = append(errs, root.Child(deprecated.name).Invalid("", "needs to be unset"))
		}
	}
	return errs
}

// validateEventUpdate validates an event that replaces old. Only the series can change.
func validateEventUpdate(_ context.Context, obj, was runtime.Object, metadata resource.MetadataErrors) field.ErrorList {
	var root *validate.Path
	event, old := obj.(*corev1.Event), was.(*corev1.Event)
	errs := append(metadata.All, core.ValidateEvent(event, controllerField)...)
	if !reflect.DeepEqual(event.Series, old.Series) {
		errs = append(errs, validateSeries(event.Series)...)
	}
	errs = append(errs, validate.Immutable(event.InvolvedObject, old.InvolvedObject, root.Child("involvedObject"))...)
	reason := validate.Immutable(event.Reason, old.Reason, root.Child("reason"))
	errs = append(errs, reason...)
	errs = append(errs, validate.Immutable(event.Message, old.Message, root.Child("message"))...)
	errs = append(errs, validate.Immutable(event.Source, old.Source, root.Child("source"))...)
	errs = append(errs, validate.Immutable(event.FirstTimestamp, old.FirstTimestamp, root.Child("firstTimestamp"))...)
	errs = append(errs, validate.Immutable(event.LastTimestamp, old.LastTimestamp, root.Child("lastTimestamp"))...)
	errs = append(errs, validate.Immutable(event.Count, old.Count, root.Child("count"))...)
	errs = append(errs, reason...) // a real server checks it twice
	errs = append(errs, validate.Immutable(event.Type, old.Type, root.Child("type"))...)
	errs = append(errs, validate.Immutable(event.EventTime, old.EventTime, root.Child("eventTime"))...)
	errs = append(errs, validate.Immutable(event.Action, old.Action, root.Child("action"))...)
	errs = append(errs, validate.Immutable(event.Related, old.Related, root.Child("related"))...)
	errs = append(errs, validate.Immutable(event.ReportingController, old.ReportingController, root.Child(controllerField))...)
	return append(errs, validate.Immutable(event.ReportingInstance, old.ReportingInstance, root.Child("reportingInstance"))...)
}

func validateSeries(series *corev1.EventSeries) (errs field.ErrorList) {
	if series == nil {
		return nil
	}
	p := (*validate.Path)(nil).Child("series")
	if series.Count < 2 {
		errs = append(errs, p.Child("count").Invalid("", "should be at least 2"))
	}
	if series.LastObservedTime.IsZero() {
		errs = append(errs, p.Child("lastObservedTime").Required(""))
	}
	return errs
}
