package scenario

import (
	"cmp"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// What writes build on, and how objects are after them. A part of an object that a write
// leaves alone is as it was: then its content is told by what it was and what was written.

// eachObject is for the objects of a manifest. Of one that is none the step fails,
// wherever it stands.
func (s manifestFile) eachObject(do func(*unstructured.Unstructured)) {
	objects, _ := decodeManifest(s.manifest)
	for _, o := range objects {
		do(o)
	}
}

func (s apply) link(l *ledger) {
	s.eachObject(func(o *unstructured.Unstructured) { l.write(o.GetNamespace(), o.GetName(), formatValue(o.Object)) })
}

// A creation needs that there is no such object. A name that the server makes up is
// nobody else's.
func (s create) link(l *ledger) {
	s.eachObject(func(o *unstructured.Unstructured) {
		name := cmp.Or(o.GetName(), o.GetGenerateName()+" of step "+strconv.Itoa(l.step))
		l.readThere(o.GetNamespace(), name)
		l.write(o.GetNamespace(), name, formatValue(o.Object))
	})
}

// A PUT needs an object that is there; what is in it matters only if the PUT is of a
// subresource.
func (s updateStep) link(l *ledger) {
	s.eachObject(func(o *unstructured.Unstructured) {
		l.readThere(o.GetNamespace(), o.GetName())
		if s.subresource == "" {
			l.write(o.GetNamespace(), o.GetName(), formatValue(o.Object))
			return
		}
		l.change(o.GetNamespace(), o.GetName(), s.subresource+" "+formatValue(o.Object))
	})
}

// The operations of a JSON patch may test what there is.
func (s patch) link(l *ledger) {
	l.readThere(s.ref.Namespace, s.ref.Name)
	if s.patchType == types.JSONPatchType {
		l.readObject(s.ref.Namespace, s.ref.Name)
	}
	l.change(s.ref.Namespace, s.ref.Name, string(s.patchType)+" "+s.subresource+" "+s.body)
}

// Without force it depends on what others have written whether there is a conflict.
func (s serverSideApply) link(l *ledger) {
	s.eachObject(func(o *unstructured.Unstructured) {
		if !s.force {
			l.readObject(o.GetNamespace(), o.GetName())
		}
		l.change(o.GetNamespace(), o.GetName(), "applied by "+s.manager+" "+formatValue(o.Object))
	})
}

// A deletion needs an object that is there; what is in it does not matter.
func (s deleteStep) link(l *ledger) {
	l.readThere(s.ref.Namespace, s.ref.Name)
	l.write(s.ref.Namespace, s.ref.Name, deleted)
}
