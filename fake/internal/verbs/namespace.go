package verbs

import (
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

func isNamespaces(res *resource.Resource) bool { return res.GroupResource() == namespaces }

func namespaceKey(name string) string { return "namespaces/" + name }

// admitNamespace refuses a new object in a namespace that does not exist
// (NS-01) or is on its way out (NS-02).
func (a *API) admitNamespace(res *resource.Resource, namespace string, m metav1.Object) error {
	if namespace == "" {
		return nil
	}
	rec := a.store.View().Get(namespaceKey(namespace))
	if rec == nil {
		return apierrors.NewNotFound(namespaces, namespace)
	}
	if phase, _ := rec.Fields.Get("status.phase"); phase != string(corev1.NamespaceTerminating) {
		return nil
	}
	err := apierrors.NewForbidden(res.GroupResource(), m.GetName(), errors.New(
		"unable to create new content in namespace "+namespace+" because it is being terminated"))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: "namespace " + namespace + " is being terminated",
		Field:   "metadata.namespace",
	})
	return err
}

// deleteNamespace marks a namespace as terminating (NS-06) and removes what is
// in it. It answers with the namespace, which is gone by then unless something
// in it has finalizers.
func (a *API) deleteNamespace(q *request, opts *metav1.DeleteOptions) error {
	name := q.target.Name
	switch name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic: // NS-04
		return apierrors.NewForbidden(namespaces, name, errors.New("this namespace may not be deleted"))
	}
	out, err := a.commit(q.res, q.key(), isDryRun(opts.DryRun), func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(namespaces, name)
		}
		ns := old.(*corev1.Namespace)
		if err := preconditions(q.res, ns, opts.Preconditions); err != nil {
			return nil, err
		}
		if err := a.admitDelete(q, q.res, ns, opts); err != nil {
			return nil, err
		}
		markDeleted(ns)
		ns.DeletionGracePeriodSeconds = nil
		ns.Status.Phase = corev1.NamespaceTerminating
		return ns, nil
	})
	if err != nil {
		return err
	}
	if !isDryRun(opts.DryRun) && a.settings.Controllers {
		if err := a.empty(name); err != nil {
			return err
		}
		a.settle(name, opts)
	}
	return q.answer(http.StatusOK, out)
}

// empty deletes all that is in a namespace. Rows that show the same objects
// under another version are passed over.
func (a *API) empty(namespace string) error {
	for _, res := range a.table.All() {
		if !res.Namespaced || res.GroupVersion() != res.StoreVersion {
			continue
		}
		for rec := range a.store.View().Range(codec.Key(res, namespace, ""), "") {
			_, err := a.remove(nil, res, rec.Key, nameOf(rec.Key), &metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// settle ends a terminating namespace once nothing is left in it (NS-09). It
// is called after every removal, so the last one does it.
func (a *API) settle(namespace string, opts *metav1.DeleteOptions) {
	if namespace == "" || isDryRun(opts.DryRun) || !a.settings.Controllers {
		return
	}
	view := a.store.View()
	rec := view.Get(namespaceKey(namespace))
	if rec == nil {
		return
	}
	if phase, _ := rec.Fields.Get("status.phase"); phase != string(corev1.NamespaceTerminating) {
		return
	}
	for _, res := range a.table.All() {
		if res.Namespaced && view.Count(codec.Key(res, namespace, "")) > 0 {
			return
		}
	}
	res := a.table.Lookup("", "v1", "namespaces")
	// A failure means that somebody else was faster, or that a finalizer of the
	// namespace's own is left.
	_, _ = a.commit(res, rec.Key, false, func(old runtime.Object) (runtime.Object, error) {
		if old == nil || len(accessor(old).GetFinalizers()) > 0 {
			return old, nil
		}
		return nil, nil
	})
}
