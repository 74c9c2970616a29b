package handlers

import (
	"context"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
)

// controllerManager owns the fields that the controllers write.
const controllerManager = "kube-controller-manager"

// Now returns the time of the API server's clock.
func (a *API) Now() time.Time { return a.clock.Now() }

// DeleteKey deletes the object under a key as a DELETE request of user with opts does, including
// preconditions and the admission plugins, but without admission functions. A missing object is
// NotFound. res has the storage version.
func (a *API) DeleteKey(ctx context.Context, user authenticationv1.UserInfo, res *resource.Resource, key string, opts *metav1.DeleteOptions) error {
	ctx = authn.WithUser(ctx, user)
	_, err := a.deleteObject(ctx, nil, res, key, nameFromKey(key), opts, func(old runtime.Object, opts *metav1.DeleteOptions) error {
		return a.reviewDelete(ctx, a.controllerAdmission, controllerAttributes(user, res, old), old, opts)
	})
	return err
}

// deleteKey deletes the object under a key as the server itself does, without admission.
func (a *API) deleteKey(res *resource.Resource, key string, opts *metav1.DeleteOptions) error {
	_, err := a.deleteObject(context.Background(), nil, res, key, nameFromKey(key), opts, nil)
	return err
}

// ChangeKey changes the object under a key as a PATCH or PUT request of user does, with the
// admission plugins, but without admission functions. change modifies the stored object, which has
// the storage version; it may be called more than once. The managedFields are those of a write to
// subresource, "" for the object itself. change must only modify metadata and what the subresource
// may change. Nothing is written if there is no object, or one with another uid, or nothing
// changes. The object is removed if it was deleted and change removes its last finalizer (DL-05).
func (a *API) ChangeKey(ctx context.Context, user authenticationv1.UserInfo, res *resource.Resource, key, uid, subresource string, change func(runtime.Object)) error {
	return a.changeKey(ctx, user, controllerManager, res, key, uid, subresource, change)
}

// ChangeByServer is ChangeKey for the API server itself.
func (a *API) ChangeByServer(ctx context.Context, res *resource.Resource, key, uid, subresource string, change func(runtime.Object)) error {
	return a.changeKey(ctx, authn.ServerUser(), serverManager, res, key, uid, subresource, change)
}

// changeKey is ChangeKey for a field manager.
func (a *API) changeKey(ctx context.Context, user authenticationv1.UserInfo, fieldManager string, res *resource.Resource, key, uid, subresource string, change func(runtime.Object)) error {
	manager, err := a.types.FieldManager(res, subresource)
	if err != nil {
		return err
	}
	ctx = authn.WithUser(ctx, user)
	_, err = a.store.GuaranteedUpdate(ctx, res, key, false, func(old runtime.Object) (runtime.Object, error) {
		if old == nil || string(resource.Accessor(old).GetUID()) != uid {
			return old, nil
		}
		obj := old.DeepCopyObject()
		change(obj)
		if apiequality.Semantic.DeepEqual(obj, old) {
			return old, nil
		}
		obj = a.clock.UpdateManagedFields(manager, old, obj, fieldManager)
		attributes := controllerAttributes(user, res, old)
		attributes.Subresource, attributes.OldObject, attributes.Object = subresource, old, obj
		if obj, err = a.reviewChange(ctx, &attributes); err != nil {
			return nil, err
		}
		managedfields.RestoreTimestamps(old, obj)
		if rest.ShouldDeleteDuringUpdate(obj, old) {
			return nil, nil
		}
		return obj, nil
	})
	return err
}

// ApplyStatus sets the status of the object under a key as an apply with force does. Nothing is
// written if there is no object, or one with another uid, or nothing changes. It is for
// ValidatingAdmissionPolicies, about which no admission plugin is asked.
func (a *API) ApplyStatus(res *resource.Resource, key, uid, manager string, status map[string]any) error {
	return a.applyMembers(context.Background(), res, key, uid, "status", manager, map[string]any{"status": status},
		func(obj, _ runtime.Object) (runtime.Object, error) { return obj, nil })
}

// ApplyKey sets members of the object under a key as an apply by user with force does, with the
// admission plugins, but without admission functions. members are those of the applied
// configuration besides its metadata; what manager has applied before and they lack is removed.
// Nothing is written if there is no object, or one with another uid, or nothing changes.
func (a *API) ApplyKey(ctx context.Context, user authenticationv1.UserInfo, res *resource.Resource, key, uid, manager string, members map[string]any) error {
	ctx = authn.WithUser(ctx, user)
	return a.applyMembers(ctx, res, key, uid, "", manager, members, func(obj, old runtime.Object) (runtime.Object, error) {
		attributes := controllerAttributes(user, res, old)
		attributes.OldObject, attributes.Object = old, obj
		attributes.Options = (&writeOptions{fieldManager: manager}).forAdmission(admissionv1.Update)
		return a.reviewChange(ctx, &attributes)
	})
}

// applyMembers is ApplyKey for a subresource. review returns the object to store.
func (a *API) applyMembers(ctx context.Context, res *resource.Resource, key, uid, subresource, manager string, members map[string]any, review func(obj, old runtime.Object) (runtime.Object, error)) error {
	fields, err := a.types.FieldManager(res, subresource)
	if err != nil {
		return err
	}
	_, err = a.store.GuaranteedUpdate(ctx, res, key, false, func(old runtime.Object) (runtime.Object, error) {
		if old == nil || string(resource.Accessor(old).GetUID()) != uid {
			return old, nil
		}
		config := runtime.DeepCopyJSON(members)
		config["apiVersion"], config["kind"] = res.GroupVersion().String(), res.Kind
		config["metadata"] = map[string]any{"name": resource.Accessor(old).GetName()}
		obj, err := fields.ApplyConfig(old, config, manager, true)
		if err != nil {
			return nil, err
		}
		a.clock.AdjustApplied(old, obj)
		obj = res.Canonical(obj)
		managedfields.RestoreTimestamps(old, obj)
		if apiequality.Semantic.DeepEqual(obj, old) {
			return old, nil
		}
		if obj, err = review(obj, old); err != nil {
			return nil, err
		}
		managedfields.RestoreTimestamps(old, obj)
		return obj, nil
	})
	return err
}

// controllerAttributes returns the attributes of a write of an object by a controller.
func controllerAttributes(user authenticationv1.UserInfo, res *resource.Resource, old runtime.Object) admission.Attributes {
	m := resource.Accessor(old)
	attributes := admission.Attributes{User: user, Resource: res, Namespace: m.GetNamespace(), Name: m.GetName()}
	if rest.IsNamespaces(res) {
		attributes.Namespace = attributes.Name
	}
	return attributes
}

// reviewChange runs the admission plugins on the change of an object by a controller and returns
// the object to store. An object that webhooks or policies may have changed is prepared and
// validated like that of a request.
func (a *API) reviewChange(ctx context.Context, attributes *admission.Attributes) (runtime.Object, error) {
	attributes.Operation, attributes.NewUID = admissionv1.Update, a.newUID
	if attributes.Options == nil {
		attributes.Options = new(writeOptions).forAdmission(admissionv1.Update)
	}
	if err := a.controllerAdmission.Admit(ctx, attributes); err != nil {
		return nil, err
	}
	res, obj, old := attributes.Resource, attributes.Object, attributes.OldObject
	isChanged := attributes.IsReviewed()
	if isChanged {
		if err := rest.BeforeUpdate(ctx, res, res.Subresource(attributes.Subresource), obj, old); err != nil {
			return nil, err
		}
	}
	if err := a.controllerAdmission.Validate(ctx, attributes); err != nil || !isChanged {
		return obj, err
	}
	return obj, pruneChanged(res, obj)
}
