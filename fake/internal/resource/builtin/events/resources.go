// Package events has the built-in types of the group events.k8s.io.
package events

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

// Resources returns the events of the core group as events.k8s.io shows them. They are stored
// in the version of the core group.
func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "events.k8s.io", Version: "v1", Plural: "events", Kind: "Event", Namespaced: true,
			ShortNames:               []string{"ev"},
			StorageResource:          schema.GroupResource{Resource: "events"},
			StorageVersion:           corev1.SchemeGroupVersion,
			ToStorage:                convertEventToCore,
			FromStorage:              convertEventFromCore,
			AllowUnconditionalUpdate: true, AllowCreateOnUpdate: true,
			GarbageCollection: resource.GarbageCollectionUnsupported,
			Fields:            core.EventFields("regarding", "reportingController"),
			Validate:          validateNewEvent,
			ValidateUpdate:    validateEventUpdate,
		},
	}
}
