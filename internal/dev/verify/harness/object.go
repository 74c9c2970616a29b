package harness

import (
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Object is an object in a form that can be compared. Key is "namespace/name", Revision is the
// resourceVersion, and Content is the JSON of everything else.
type Object struct {
	Key      string
	Revision uint64
	Labels   map[string]string
	Content  string
}

// Equal reports whether two objects are equal, except for the labels, which are part of the
// content.
func (o Object) Equal(b Object) bool {
	return o.Key == b.Key && o.Revision == b.Revision && o.Content == b.Content
}

// String returns the key, the revision and the content.
func (o Object) String() string { return fmt.Sprintf("%s@%d %s", o.Key, o.Revision, o.Content) }

// Event is one event of a watch. A bookmark has only a Revision, and InitialEventsEnd if it ends
// the initial events. An error has the Code and the Message of its Status.
type Event struct {
	Object
	Type             watch.EventType
	InitialEventsEnd bool
	Code             int
	Message          string
}

// String returns the type and what the event is about.
func (e Event) String() string {
	switch e.Type {
	case watch.Bookmark:
		return fmt.Sprintf("BOOKMARK %d (ends: %v)", e.Revision, e.InitialEventsEnd)
	case watch.Error:
		return fmt.Sprintf("ERROR %d", e.Code)
	}
	return fmt.Sprintf("%s %s", e.Type, e.Object)
}

// ObjectFrom converts a decoded object to an Object. It modifies obj.
func ObjectFrom(obj runtime.Object) (o Object, err error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return o, err
	}
	if o.Revision, err = strconv.ParseUint(m.GetResourceVersion(), 10, 64); err != nil {
		return o, fmt.Errorf("resourceVersion: %w", err)
	}
	o.Key, o.Labels = m.GetNamespace()+"/"+m.GetName(), m.GetLabels()
	m.SetResourceVersion("")
	obj.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(""))
	content, err := json.Marshal(obj)
	o.Content = string(content)
	return o, err
}
