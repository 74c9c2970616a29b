package handlers

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// delete removes an object, or marks one that has finalizers (DL rules).
func (a *API) delete(q *request) error {
	opts, err := q.deleteOptions()
	if err != nil {
		return err
	}
	if err := a.unreadable(q, opts); err != nil {
		return err
	}
	left, err := a.remove(q, q.res, q.key(), q.target.Name, opts)
	if err != nil {
		return err
	}
	return q.replyDeleted(left, opts)
}

// remains is what a delete left behind.
type remains struct {
	// gone tells that the object is not there any more, or would not be after a
	// dry run.
	gone bool
	// uid is the object's.
	uid types.UID
	// out is the object in its last state.
	out outcome
}

// replyDeleted answers a delete: with a Status if the object is gone (DL-01),
// or with the object for types that do so, and for one that stays (DL-03).
func (q *request) replyDeleted(left remains, opts *metav1.DeleteOptions) error {
	code := http.StatusOK
	if orphan := orphanDependents(opts); !left.gone && orphan != nil && !*orphan {
		code = http.StatusAccepted // DL-21
	}
	if left.gone && !q.res.ReturnDeletedObject {
		return q.replyStatus(status.Success(&metav1.StatusDetails{
			Name: q.target.Name, Group: q.res.Group, Kind: q.res.Plural, UID: left.uid,
		}))
	}
	return q.answer(code, left.out)
}

// remove deletes the object under a key, or marks it as being deleted if it has
// finalizers or a grace period. Who depends on it is not asked (DL-37).
func (a *API) remove(q *request, res *resource.Resource, key, name string, opts *metav1.DeleteOptions) (remains, error) {
	var left remains
	if err := mayDelete(res, name); err != nil {
		return left, err
	}
	if q != nil {
		if err := q.named(); err != nil {
			return left, err
		}
		if err := a.reread(res, key); err != nil {
			return left, err
		}
	}
	var marked runtime.Object
	marks := false
	out, err := a.commit(res, key, isDryRun(opts.DryRun), func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(res.GroupResource(), name)
		}
		m := accessor(old)
		if err := preconditions(res, m, opts.Preconditions); err != nil {
			return nil, err
		}
		if err := a.admitDelete(q, res, old, opts); err != nil {
			return nil, err
		}
		left.uid, marked = m.GetUID(), old
		left.gone, marks = condemn(res, old, opts, a.now())
		if left.gone && !marks {
			return nil, nil
		}
		return old, nil
	})
	left.out = out
	switch {
	case err != nil:
		return left, err
	case isDryRun(opts.DryRun):
		left.out.obj = marked
	case left.gone && marks:
		return left, a.finish(res, key, &left)
	}
	return left, nil
}

// finish removes an object that was marked with no grace: a watcher sees both,
// as from a real server. Somebody else may have been faster.
func (a *API) finish(res *resource.Resource, key string, left *remains) error {
	out, err := a.commit(res, key, false, func(old runtime.Object) (runtime.Object, error) {
		if old == nil || accessor(old).GetUID() != left.uid {
			return old, nil
		}
		return nil, nil
	})
	if err == nil && out.event.Changed() {
		left.out = out
	}
	return err
}

// preconditions refuses a delete of another object than the client meant
// (DL-10, DL-11). The Conflict names the kind and not the resource (OC-20).
func preconditions(res *resource.Resource, m metav1.Object, p *metav1.Preconditions) error {
	conflict := func(err error) error {
		return apierrors.NewConflict(schema.GroupResource{Group: res.Group, Resource: res.Kind}, m.GetName(), err)
	}
	switch {
	case p == nil:
		return nil
	case isNamespaces(res):
		return namespacePreconditions(m, p)
	case p.UID != nil && *p.UID != m.GetUID():
		return conflict(fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *p.UID, m.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion():
		return conflict(fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *p.ResourceVersion, m.GetResourceVersion()))
	}
	return nil
}

// deleteOptions reads the options from the body, or from the query if there is
// none (DL-17).
func (q *request) deleteOptions() (*metav1.DeleteOptions, error) {
	body, err := q.readBody()
	if err != nil {
		return nil, err
	}
	opts := &metav1.DeleteOptions{}
	if len(body) > 0 {
		err = q.decodeDeleteOptions(body, opts)
	} else {
		err = q.options(opts)
	}
	if err != nil {
		return nil, err
	}
	if err := invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(opts)); err != nil {
		return nil, err
	}
	return opts, nil
}

// orphanDependents is the option that propagationPolicy has replaced and that
// old clients still send.
func orphanDependents(opts *metav1.DeleteOptions) *bool {
	return opts.OrphanDependents //lint:ignore SA1019 see above
}

func (q *request) decodeDeleteOptions(body []byte, opts *metav1.DeleteOptions) error {
	media, err := negotiate.RequestMediaType(q.r)
	if err != nil {
		return err
	}
	kind := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	codecs := codec.OptionsCodecs()
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media.String())
	if !ok {
		return fmt.Errorf("%s has no codec for options", media)
	}
	obj, _, err := codecs.DecoderToVersion(info.Serializer, kind.GroupVersion()).Decode(body, &kind, opts)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if obj != opts {
		return apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return nil
}
