package resource

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// eventsResources shows the events of the core group as events.k8s.io does: the same
// objects, kept in their older encoding.
func eventsResources() []Resource {
	return []Resource{
		{
			Group: "events.k8s.io", Version: "v1", Plural: "events", Kind: "Event", Namespaced: true,
			ShortNames:               []string{"ev"},
			StorageResource:          schema.GroupResource{Resource: "events"},
			StorageVersion:           corev1.SchemeGroupVersion,
			toStorage:                convertEventToCore,
			fromStorage:              convertEventFromCore,
			AllowUnconditionalUpdate: true, AllowCreateOnUpdate: true,
			ValidateName: validatePathSegmentName,
			Fields:       eventFields("regarding", "reportingController"),
		},
	}
}

func coreEventFields() []Field {
	fields := eventFields("involvedObject", "reportingComponent")
	return append(fields, stringField("source", func(e *corev1.Event) string {
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
		stringField(object+".kind", func(e *corev1.Event) string { return e.InvolvedObject.Kind }),
		stringField(object+".namespace", func(e *corev1.Event) string { return e.InvolvedObject.Namespace }),
		stringField(object+".name", func(e *corev1.Event) string { return e.InvolvedObject.Name }),
		stringField(object+".uid", func(e *corev1.Event) string { return string(e.InvolvedObject.UID) }),
		stringField(object+".apiVersion", func(e *corev1.Event) string { return e.InvolvedObject.APIVersion }),
		stringField(object+".resourceVersion", func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion }),
		stringField(object+".fieldPath", func(e *corev1.Event) string { return e.InvolvedObject.FieldPath }),
		stringField("reason", func(e *corev1.Event) string { return e.Reason }),
		stringField(reporter, func(e *corev1.Event) string { return e.ReportingController }),
		stringField("type", func(e *corev1.Event) string { return e.Type }),
	}
}
