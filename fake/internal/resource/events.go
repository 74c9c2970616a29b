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
			ShortNames:          []string{"ev"},
			Store:               schema.GroupResource{Resource: "events"},
			StoreVersion:        corev1.SchemeGroupVersion,
			toStored:            eventToCore,
			fromStored:          eventFromCore,
			UnconditionalUpdate: true, CreateOnUpdate: true,
			ValidateName: anyName,
			Fields:       eventFields("regarding", "reportingController"),
		},
	}
}

func coreEventFields() []Field {
	fields := eventFields("involvedObject", "reportingComponent")
	return append(fields, field("source", func(e *corev1.Event) string {
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
		field(object+".kind", func(e *corev1.Event) string { return e.InvolvedObject.Kind }),
		field(object+".namespace", func(e *corev1.Event) string { return e.InvolvedObject.Namespace }),
		field(object+".name", func(e *corev1.Event) string { return e.InvolvedObject.Name }),
		field(object+".uid", func(e *corev1.Event) string { return string(e.InvolvedObject.UID) }),
		field(object+".apiVersion", func(e *corev1.Event) string { return e.InvolvedObject.APIVersion }),
		field(object+".resourceVersion", func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion }),
		field(object+".fieldPath", func(e *corev1.Event) string { return e.InvolvedObject.FieldPath }),
		field("reason", func(e *corev1.Event) string { return e.Reason }),
		field(reporter, func(e *corev1.Event) string { return e.ReportingController }),
		field("type", func(e *corev1.Event) string { return e.Type }),
	}
}
