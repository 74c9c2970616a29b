package handlers

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/audit"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/fake/internal/storage"
	"example.com/fakeapi/memstore"
)

// delete removes an object, or marks it as deleted if it has finalizers or a grace period (DL
// rules).
func (a *API) delete(q *request) error {
	opts, err := q.decodeDeleteOptions()
	if err != nil {
		return err
	}
	if ignoresReadErrors(opts) {
		return a.unsafeDelete(q, opts)
	}
	q.addDeleteWarning(opts)
	if q.res.CheckDelete != nil {
		if err := q.res.CheckDelete(q.info.Name); err != nil {
			return err
		}
	}
	result, err := a.deleteObject(q.r.Context(), q, q.res, q.key(), q.info.Name, opts, a.newDeleteReview(q))
	if err != nil {
		return err
	}
	return q.replyDeleted(result, opts)
}

// deleteResult is the result of a delete.
type deleteResult struct {
	storage.Result
	// removed reports whether the object was removed, or would have been without a dry run.
	removed bool
	// emptied reports whether a dry run has removed the last finalizers. A real server then returns
	// an object without any fields.
	emptied bool
	uid     types.UID
}

// replyDeleted writes the response to a delete: a Status if the object was removed (DL-01), unless
// the resource returns deleted objects, or the object that remains (DL-03).
func (q *request) replyDeleted(result deleteResult, opts *metav1.DeleteOptions) error {
	code := http.StatusOK
	if orphan := rest.OrphanDependents(opts); !result.removed && orphan != nil && !*orphan {
		code = http.StatusAccepted // DL-21
	}
	if result.removed && !q.res.ReturnDeletedObject && !result.emptied {
		return q.replyStatus(status.Success(&metav1.StatusDetails{
			Name: q.info.Name, Group: q.res.Group, Kind: q.res.Plural, UID: result.uid,
		}))
	}
	return q.replyResult(code, result.Result)
}

// deleteObject deletes the object under key. q is nil for a delete that is not that of a request.
// review is called before each write, with the grace period that the object gets in the options:
// twice for an object that is written and then removed. It is not called if a grace period or the
// content of a namespace decides when the object is removed. Dependents are not considered (DL-37).
func (a *API) deleteObject(ctx context.Context, q *request, res *resource.Resource, key, name string, opts *metav1.DeleteOptions, review deleteReview) (result deleteResult, err error) {
	if q != nil {
		if err := status.InvalidName(name); err != nil {
			return result, err
		}
		if err := checkConvertible(res, a.store.View().Get(key)); err != nil {
			return result, err
		}
	}
	var deleted runtime.Object
	isStored := false // whether deleted was stored
	var granted *metav1.DeleteOptions
	result.Result, err = a.store.GuaranteedUpdate(ctx, res, key, isDryRun(opts.DryRun), func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(res.GroupResource(), name)
		}
		m := resource.Accessor(old)
		if err := rest.CheckPreconditions(res, m, opts.Preconditions); err != nil {
			return nil, err
		}
		result.uid, deleted = m.GetUID(), old
		granted = rest.WithGrantedGracePeriod(res, old, opts)
		if rest.IsDeletePending(res, old, granted) {
			result.removed, isStored, result.emptied = false, false, false
			return old, nil
		}
		if err := review.of(old, granted); err != nil {
			return nil, err
		}
		hadFinalizers := len(m.GetFinalizers()) > 0
		before := old
		if hadFinalizers && review != nil {
			before = old.DeepCopyObject()
		}
		result.removed, isStored = rest.BeforeDelete(res, old, granted, q != nil && q.info.IsCollection(), a.clock.Timestamp())
		if result.removed && !isStored {
			result.emptied = isDryRun(opts.DryRun) && hadFinalizers
			if !hadFinalizers || result.emptied {
				return nil, nil
			}
			if q != nil {
				if err := q.checkRemovalPrecondition(opts, m); err != nil {
					return nil, err
				}
			}
			return nil, review.of(before, granted)
		}
		return old, nil
	})
	switch {
	case err != nil:
		return result, err
	case result.emptied:
		result.Object = res.New()
	case isDryRun(opts.DryRun):
		result.Object = deleted
	case result.removed && isStored:
		err = a.removeMarked(res, key, &result, granted, review)
	}
	return result, err
}

// checkRemovalPrecondition returns the conflict of a delete with the precondition of a
// resourceVersion that removes the last finalizers. A real server compares the resourceVersion of
// an object without fields then.
func (q *request) checkRemovalPrecondition(opts *metav1.DeleteOptions, m metav1.Object) error {
	if opts.Preconditions == nil || opts.Preconditions.ResourceVersion == nil {
		return nil
	}
	return status.StoragePreconditionFailed(q.res.GroupResource(), m.GetName(), q.storagePath(), "ResourceVersion", "", m.GetResourceVersion())
}

// removeMarked removes an object that was stored with a grace period of 0, as a real server does,
// so that watches see both. The removal is reviewed again, and nothing is done if another request
// has removed the object. A delete that is not reviewed does not depend on the context of the
// request, which could end after the first of the two writes.
func (a *API) removeMarked(res *resource.Resource, key string, result *deleteResult, opts *metav1.DeleteOptions, review deleteReview) error {
	removal, err := a.store.GuaranteedUpdate(context.Background(), res, key, false, func(old runtime.Object) (runtime.Object, error) {
		if old == nil || resource.Accessor(old).GetUID() != result.uid {
			return old, nil
		}
		return nil, review.of(old, opts)
	})
	if err == nil && removal.Event.Changed() {
		result.Result = removal
	}
	return err
}

// checkConvertible returns the error of an object that cannot be converted now. rec may be nil.
// As on a real server, earlier conversions do not count.
func checkConvertible(res *resource.Resource, rec *memstore.Record) error {
	if !codec.ConversionMayFail(res, rec) {
		return nil
	}
	_, err := codec.ConvertUncached(res, rec)
	return err
}

// unsafeDelete removes an object with the option to ignore read errors, without admission and
// finalizers. It must be one that cannot be converted now (DL-34).
func (a *API) unsafeDelete(q *request, opts *metav1.DeleteOptions) error {
	audit.AddAuditAnnotation(q.r.Context(), "apiserver.k8s.io/unsafe-delete-ignore-read-error", "")
	if err := a.authorizeUnsafeDelete(q); err != nil {
		return err
	}
	rec := a.store.View().Get(q.key())
	if rec == nil {
		return apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
	}
	if checkConvertible(q.res, rec) == nil {
		return status.UnsafeDeleteNotAllowed(q.parent.GroupResource(), q.info.Name, q.storagePath())
	}
	_, err := a.store.GuaranteedUpdateUnconverted(q.r.Context(), q.res, q.key(), isDryRun(opts.DryRun), nil, func(old runtime.Object) (runtime.Object, error) {
		if old == nil || string(resource.Accessor(old).GetUID()) != rec.UID {
			return nil, apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	deleted := status.Success(&metav1.StatusDetails{Name: q.info.Name, Kind: q.res.Kind})
	deleted.Code = http.StatusOK
	return q.replyStatus(deleted)
}

func ignoresReadErrors(opts *metav1.DeleteOptions) bool {
	ignore := opts.IgnoreStoreReadErrorWithClusterBreakingPotential
	return ignore != nil && *ignore
}

// decodeDeleteOptions decodes and validates the options in the body or, without a body, in the
// query (DL-17).
func (q *request) decodeDeleteOptions() (*metav1.DeleteOptions, error) {
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
	if err := status.InvalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(opts)); err != nil {
		return nil, err
	}
	return opts, nil
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
	obj, sent, err := codecs.DecoderToVersion(info.Serializer, kind.GroupVersion()).Decode(body, &kind, opts)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if obj != opts {
		return apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	q.auditDeleteOptions(opts, sent.GroupVersion())
	return nil
}
