package perturb

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	fakeapi "example.com/fakeapi/fake"
)

// State has the objects that were written since the beginning of a run.
type State struct {
	objects map[objectKey]*object
}

// objectKey identifies an object.
type objectKey struct{ resource, namespace, name string }

// String returns "RESOURCE NAMESPACE/NAME".
func (k objectKey) String() string {
	if k.namespace == "" {
		return k.resource + " " + k.name
	}
	return k.resource + " " + k.namespace + "/" + k.name
}

// object is an object at one revision.
type object struct {
	key      objectKey
	kind     schema.GroupVersionKind
	uid      string
	revision uint64
	fields   map[string]any
}

// Get returns an object, or nil. A resource has its group as in pods or deployments.apps.
func (s *State) Get(resource, namespace, name string) *unstructured.Unstructured {
	return s.objects[objectKey{resource, namespace, name}].unstructured()
}

// List returns the objects of a resource in a namespace, or in all if it is "", sorted by namespace
// and name.
func (s *State) List(resource, namespace string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, key := range sortedKeys(s.objects) {
		if key.resource == resource && (namespace == "" || namespace == key.namespace) {
			all = append(all, s.objects[key].unstructured())
		}
	}
	return all
}

func (o *object) unstructured() *unstructured.Unstructured {
	if o == nil {
		return nil
	}
	u := &unstructured.Unstructured{Object: o.fields}
	u = u.DeepCopy()
	u.SetGroupVersionKind(o.kind)
	return u
}

// newObject returns the object of a change with the JSON data.
func newObject(c fakeapi.Change, data []byte) *object {
	o := &object{
		key: keyOf(c), kind: c.Kind, uid: c.UID, revision: c.ResourceVersion,
	}
	if err := json.Unmarshal(data, &o.fields); err != nil {
		o.fields = map[string]any{"invalid": string(data)}
	}
	return o
}

func keyOf(c fakeapi.Change) objectKey {
	return objectKey{c.Resource.GroupResource().String(), c.Namespace, c.Name}
}

// metadata returns the metadata of an object.
func (o *object) metadata() map[string]any {
	m, _ := o.fields["metadata"].(map[string]any)
	return m
}

// text returns a field of the metadata, or "".
func (o *object) text(field string) string {
	s, _ := o.metadata()[field].(string)
	return s
}

// isTerminating reports whether an object is being deleted.
func (o *object) isTerminating() bool { return o.text("deletionTimestamp") != "" }

// owner is an owner reference.
type owner struct {
	kind, name, uid string
}

// owners returns the owners of an object.
func (o *object) owners() []owner {
	var all []owner
	references, _ := o.metadata()["ownerReferences"].([]any)
	for _, r := range references {
		m, _ := r.(map[string]any)
		kind, _ := m["kind"].(string)
		name, _ := m["name"].(string)
		uid, _ := m["uid"].(string)
		all = append(all, owner{kind, name, uid})
	}
	return all
}
