package plugins

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
)

// newestDefault returns the name of the class that is the default by one of annotations, nil if
// there is none. Of several, it is the newest, or else the first by name.
func newestDefault(objects Objects, res schema.GroupVersionResource, annotations ...string) (*string, error) {
	classes, err := objects.List(res, "")
	if err != nil {
		return nil, err
	}
	var newest runtime.Object
	for _, class := range classes { // in the order of their names
		if !hasAnyTrue(resource.Accessor(class).GetAnnotations(), annotations) {
			continue
		}
		if newest == nil || isNewer(class, newest) {
			newest = class
		}
	}
	if newest == nil {
		return nil, nil
	}
	name := resource.Accessor(newest).GetName()
	return &name, nil
}

func hasAnyTrue(annotations map[string]string, keys []string) bool {
	for _, key := range keys {
		if annotations[key] == "true" {
			return true
		}
	}
	return false
}

func isNewer(a, b runtime.Object) bool {
	at, than := resource.Accessor(a).GetCreationTimestamp(), resource.Accessor(b).GetCreationTimestamp()
	return at.After(than.Time)
}
