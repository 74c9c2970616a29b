package core

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// coreEventFields returns the field selectors of events in the core group.
func coreEventFields() []resource.Field {
	fields := EventFields("involvedObject", "reportingComponent")
	return append(fields, resource.StringField("source", func(e *corev1.Event) string {
		if e.Source.Component != "" {
			return e.Source.Component
		}
		return e.ReportingController
	}))
}

// EventFields returns the field selectors that both versions have. object is the name of the
// reference to the object of the event, reporter that of the reporting controller.
func EventFields(object, reporter string) []resource.Field {
	return []resource.Field{
		resource.StringField(object+".kind", func(e *corev1.Event) string { return e.InvolvedObject.Kind }),
		resource.StringField(object+".namespace", func(e *corev1.Event) string { return e.InvolvedObject.Namespace }),
		resource.StringField(object+".name", func(e *corev1.Event) string { return e.InvolvedObject.Name }),
		resource.StringField(object+".uid", func(e *corev1.Event) string { return string(e.InvolvedObject.UID) }),
		resource.StringField(object+".apiVersion", func(e *corev1.Event) string { return e.InvolvedObject.APIVersion }),
		resource.StringField(object+".resourceVersion", func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion }),
		resource.StringField(object+".fieldPath", func(e *corev1.Event) string { return e.InvolvedObject.FieldPath }),
		resource.StringField("reason", func(e *corev1.Event) string { return e.Reason }),
		resource.StringField(reporter, func(e *corev1.Event) string { return e.ReportingController }),
		resource.StringField("type", func(e *corev1.Event) string { return e.Type }),
	}
}
