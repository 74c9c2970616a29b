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

// Object is an object as it can be seen: under a key "namespace/name", at the
// revision of its last change, with a content by which two can be compared.
type Object struct {
	Key      string
	Revision uint64
	Labels   map[string]string
	Content  string
}

func (a Object) Equal(b Object) bool {
	return a.Key == b.Key && a.Revision == b.Revision && a.Content == b.Content
}

func (a Object) String() string { return fmt.Sprintf("%s@%d %s", a.Key, a.Revision, a.Content) }

// Event is one frame of a watch. A bookmark has a revision only, and ends if
// it closes the initial events; an error has the code and the message of its Status.
type Event struct {
	Object
	Type             watch.EventType
	InitialEventsEnd bool
	Code             int
	Message          string
}

func (g Event) String() string {
	switch g.Type {
	case watch.Bookmark:
		return fmt.Sprintf("BOOKMARK %d (ends: %v)", g.Revision, g.InitialEventsEnd)
	case watch.Error:
		return fmt.Sprintf("ERROR %d", g.Code)
	}
	return fmt.Sprintf("%s %s", g.Type, g.Object)
}

// ObjectFrom makes a thing of an object, in whatever encoding it came. It changes the object.
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
