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
			ToStorage:                convertEventToCore,
			FromStorage:              convertEventFromCore,
			AllowUnconditionalUpdate: true, AllowCreateOnUpdate: true,
			ValidateName: validatePathSegmentName,
			Fields:       eventFields("regarding", "reportingController"),
		},
	}
}

func coreEventFields() []Field {
	fields := eventFields("involvedObject", "reportingComponent")
	return append(fields, StringField("source", func(e *corev1.Event) string {
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
		StringField(object+".kind", func(e *corev1.Event) string { return e.InvolvedObject.Kind }),
		StringField(object+".namespace", func(e *corev1.Event) string { return e.InvolvedObject.Namespace }),
		StringField(object+".name", func(e *corev1.Event) string { return e.InvolvedObject.Name }),
		StringField(object+".uid", func(e *corev1.Event) string { return string(e.InvolvedObject.UID) }),
		StringField(object+".apiVersion", func(e *corev1.Event) string { return e.InvolvedObject.APIVersion }),
		StringField(object+".resourceVersion", func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion }),
		StringField(object+".fieldPath", func(e *corev1.Event) string { return e.InvolvedObject.FieldPath }),
		StringField("reason", func(e *corev1.Event) string { return e.Reason }),
		StringField(reporter, func(e *corev1.Event) string { return e.ReportingController }),
		StringField("type", func(e *corev1.Event) string { return e.Type }),
	}
}
