package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// controllerField is the name of reportingController in the core group.
const controllerField = "reportingComponent"

// validateNewEvent validates a new event. A real server validates the metadata only if there are no
// errors.
func validateNewEvent(_ context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList {
	if errs := ValidateEvent(obj.(*corev1.Event), controllerField); len(errs) > 0 {
		return errs
	}
	return metadata
}

func validateEventUpdate(event, _ *corev1.Event) field.ErrorList {
	return ValidateEvent(event, controllerField)
}

// ValidateEvent validates what events of both versions have in common. Those of new clients have an
// eventTime. controllerField is the name of reportingController in the version of the request.
func ValidateEvent(event *corev1.Event, controllerField string) field.ErrorList {
	var root *validate.Path
	namespace, about := event.Namespace, event.InvolvedObject.Namespace
	var agrees bool
	switch isNew := !event.EventTime.Time.IsZero(); {
	case isNew:
		agrees = about != "" || namespace == metav1.NamespaceDefault || namespace == metav1.NamespaceSystem
	case about == "":
		agrees = namespace == metav1.NamespaceNone || namespace == metav1.NamespaceDefault
	default:
		agrees = namespace == about
	}
	var errs field.ErrorList
	if !agrees {
		errs = append(errs, root.Child("involvedObject").Child("namespace").Invalid(about, "does not match event.namespace"))
	}
	if !event.EventTime.Time.IsZero() {
		errs = append(errs, validateEventReport(event, root, controllerField)...)
	}
	return append(errs, validate.DNSSubdomain(namespace, root.Child("namespace"))...)
}

// validateEventReport validates the fields that an event with an eventTime must have.
func validateEventReport(event *corev1.Event, root *validate.Path, controllerField string) (errs field.ErrorList) {
	const maxLength, maxMessageLength = 128, 1024
	controller := root.Child(controllerField)
	if event.ReportingController == "" {
		errs = append(errs, controller.Required(""))
	}
	errs = append(errs, validate.Messages(event.ReportingController, validation.IsQualifiedName(event.ReportingController), controller)...)
	errs = append(errs, validateEventText(event.ReportingInstance, maxLength, root.Child("reportingInstance"))...)
	errs = append(errs, validateEventText(event.Action, maxLength, root.Child("action"))...)
	errs = append(errs, validateEventText(event.Reason, maxLength, root.Child("reason"))...)
	if event.Message != "" {
		errs = append(errs, validateEventText(event.Message, maxMessageLength, root.Child("message"))...)
	}
	return errs
}

// validateEventText validates a text that is required.
func validateEventText(text string, maxLength int, p *validate.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{p.Required("")}
	case len(text) > maxLength:
		return field.ErrorList{p.Invalid("", fmt.Sprintf("can have at most %v characters", maxLength))}
	}
	return nil
}
