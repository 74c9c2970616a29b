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
	opts, err := q.parseDeleteOptions()
	if err != nil {
		return err
	}
	if err := a.checkUnreadableDelete(q, opts); err != nil {
		return err
	}
	result, err := a.deleteObject(q, q.res, q.key(), q.info.Name, opts)
	if err != nil {
		return err
	}
	return q.replyDeleted(result, opts)
}

// deleteResult is what a delete left behind.
type deleteResult struct {
	// deleted tells that the object is not there any more, or would not be after a
	// dry run.
	deleted bool
	// uid is the object's.
	uid types.UID
	// result is the object in its last state.
	result writeResult
}

// replyDeleted answers a delete: with a Status if the object is gone (DL-01),
// or with the object for types that do so, and for one that stays (DL-03).
func (q *request) replyDeleted(result deleteResult, opts *metav1.DeleteOptions) error {
	code := http.StatusOK
	if orphan := orphanDependents(opts); !result.deleted && orphan != nil && !*orphan {
		code = http.StatusAccepted // DL-21
	}
	if result.deleted && !q.res.ReturnDeletedObject {
		return q.replyStatus(status.Success(&metav1.StatusDetails{
			Name: q.info.Name, Group: q.res.Group, Kind: q.res.Plural, UID: result.uid,
		}))
	}
	return q.replyResult(code, result.result)
}

// deleteObject deletes the object under a key, or marks it as being deleted if it has
// finalizers or a grace period. Who depends on it is not asked (DL-37).
func (a *API) deleteObject(q *request, res *resource.Resource, key, name string, opts *metav1.DeleteOptions) (deleteResult, error) {
	var result deleteResult
	if err := checkDeletable(res, name); err != nil {
		return result, err
	}
	if q != nil {
		if err := q.checkName(); err != nil {
			return result, err
		}
		if err := a.reconvert(res, key); err != nil {
			return result, err
		}
	}
	var marked runtime.Object
	isMarked := false
	out, err := a.updateStore(res, key, isDryRun(opts.DryRun), func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(res.GroupResource(), name)
		}
		m := accessor(old)
		if err := checkPreconditions(res, m, opts.Preconditions); err != nil {
			return nil, err
		}
		if err := a.runDeleteAdmission(q, res, old, opts); err != nil {
			return nil, err
		}
		result.uid, marked = m.GetUID(), old
		result.deleted, isMarked = beforeDelete(res, old, opts, a.now())
		if result.deleted && !isMarked {
			return nil, nil
		}
		return old, nil
	})
	result.result = out
	switch {
	case err != nil:
		return result, err
	case isDryRun(opts.DryRun):
		result.result.obj = marked
	case result.deleted && isMarked:
		return result, a.deleteMarked(res, key, &result)
	}
	return result, nil
}

// deleteMarked removes an object that was marked with no grace: a watcher sees both,
// as from a real server. Somebody else may have been faster.
func (a *API) deleteMarked(res *resource.Resource, key string, result *deleteResult) error {
	out, err := a.updateStore(res, key, false, func(old runtime.Object) (runtime.Object, error) {
		if old == nil || accessor(old).GetUID() != result.uid {
			return old, nil
		}
		return nil, nil
	})
	if err == nil && out.event.Changed() {
		result.result = out
	}
	return err
}

// checkPreconditions refuses a delete of another object than the client meant
// (DL-10, DL-11). The Conflict names the kind and not the resource (OC-20).
func checkPreconditions(res *resource.Resource, m metav1.Object, p *metav1.Preconditions) error {
	conflict := func(err error) error {
		return apierrors.NewConflict(schema.GroupResource{Group: res.Group, Resource: res.Kind}, m.GetName(), err)
	}
	switch {
	case p == nil:
		return nil
	case isNamespaces(res):
		return checkNamespacePreconditions(m, p)
	case p.UID != nil && *p.UID != m.GetUID():
		return conflict(fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *p.UID, m.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion():
		return conflict(fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *p.ResourceVersion, m.GetResourceVersion()))
	}
	return nil
}

// parseDeleteOptions reads the options from the body, or from the query if there is
// none (DL-17).
func (q *request) parseDeleteOptions() (*metav1.DeleteOptions, error) {
	body, err := q.readBody()
	if err != nil {
		return nil, err
	}
	opts := &metav1.DeleteOptions{}
	if len(body) > 0 {
		err = q.decodeDeleteOptionsBody(body, opts)
	} else {
		err = q.decodeOptions(opts)
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

func (q *request) decodeDeleteOptionsBody(body []byte, opts *metav1.DeleteOptions) error {
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
