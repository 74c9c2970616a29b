package resource

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// eventsRows shows the events of the core group as events.k8s.io does: the same
// objects, kept in their older encoding.
func eventsRows() []Resource {
	return []Resource{
		{
			Group: "events.k8s.io", Version: "v1", Plural: "events", Kind: "Event", Namespaced: true,
			ShortNames:               []string{"ev"},
			StorageResource:          schema.GroupResource{Resource: "events"},
			StorageVersion:           corev1.SchemeGroupVersion,
			toStored:                 eventToCore,
			fromStored:               eventFromCore,
			AllowUnconditionalUpdate: true, AllowCreateOnUpdate: true,
			ValidateName: anyName,
			Fields:       eventFields("regarding", "reportingController"),
		},
	}
}

func coreEventFields() []Field {
	fields := eventFields("involvedObject", "reportingComponent")
	return append(fields, textField("source", func(e *corev1.Event) string {
		if e.Source.Component != "" {
			return e.Source.Component
		}
		return e.ReportingController
	}))
}

// eventFields are the selectors that both versions have; object is the name of
// the reference to what the event is about, reporter that of the controller.
func eventFields(object, reporter string) []Field {
	return []Field{
		textField(object+".kind", func(e *corev1.Event) string { return e.InvolvedObject.Kind }),
		textField(object+".namespace", func(e *corev1.Event) string { return e.InvolvedObject.Namespace }),
		textField(object+".name", func(e *corev1.Event) string { return e.InvolvedObject.Name }),
		textField(object+".uid", func(e *corev1.Event) string { return string(e.InvolvedObject.UID) }),
		textField(object+".apiVersion", func(e *corev1.Event) string { return e.InvolvedObject.APIVersion }),
		textField(object+".resourceVersion", func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion }),
		textField(object+".fieldPath", func(e *corev1.Event) string { return e.InvolvedObject.FieldPath }),
		textField("reason", func(e *corev1.Event) string { return e.Reason }),
		textField(reporter, func(e *corev1.Event) string { return e.ReportingController }),
		textField("type", func(e *corev1.Event) string { return e.Type }),
	}
}
