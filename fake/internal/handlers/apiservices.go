package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/apiregistration"
	"example.com/fakeapi/memstore"
)

// serverManager owns the fields that the server writes itself.
const serverManager = "kube-apiserver"

// apiServices returns the resource of APIServices.
func (a *API) apiServices() *resource.Resource {
	return a.types.Table().Lookup(apiregistrationv1.GroupName, "v1", "apiservices")
}

func isAPIServices(res *resource.Resource) bool { return res.Group == apiregistrationv1.GroupName }

// customAPIServices returns the APIServices of the served versions of CustomResourceDefinitions by
// their names.
func (a *API) customAPIServices() map[string]*apiregistrationv1.APIService {
	crds := a.types.CRDs()
	if len(crds) == 0 {
		return nil
	}
	wanted := make(map[string]*apiregistrationv1.APIService, len(crds))
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			if v.Served {
				s := apiregistration.ForCustom(schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name})
				wanted[s.Name] = s
			}
		}
	}
	return wanted
}

// builtinAPIServices returns the APIServices of the built-in groups and versions by their names.
func (a *API) builtinAPIServices() map[string]*apiregistrationv1.APIService {
	wanted := make(map[string]*apiregistrationv1.APIService)
	for _, g := range a.types.Table().Groups() {
		if a.types.Table().IsCustomGroup(g.Name) {
			continue
		}
		for _, version := range g.Versions {
			if s := apiregistration.ForBuiltin(schema.GroupVersion{Group: g.Name, Version: version}); s != nil {
				wanted[s.Name] = s
			}
		}
	}
	return wanted
}

// RegisterAPIServices does what kube-apiserver does with the APIServices of its own groups when it
// starts, besides what it always does for those of custom resources: it creates the missing ones,
// and deletes those of groups that are not served any more. Without system objects it does nothing.
func (a *API) RegisterAPIServices() error {
	if !a.settings.SystemObjects {
		return nil
	}
	return a.syncAPIServices(apiregistration.ManagedOnStart, a.builtinAPIServices)
}

// syncCustomAPIServices creates, updates and deletes the APIServices of custom resources. A real
// server needs some milliseconds for it.
func (a *API) syncCustomAPIServices() error {
	if !a.settings.SystemObjects {
		return nil
	}
	return a.syncAPIServices(apiregistration.ManagedAlways, a.customAPIServices)
}

// afterAPIServiceWrite restores an APIService that the server manages, and that a client has
// changed or deleted.
func (a *API) afterAPIServiceWrite(e *memstore.Event) error {
	if a.customAPIServices()[nameFromKey(e.Key())] == nil {
		return nil
	}
	return a.syncCustomAPIServices()
}

// syncAPIServices makes the APIServices with a value of the managed label those that want returns.
// One without the label is not changed.
func (a *API) syncAPIServices(managed string, want func() map[string]*apiregistrationv1.APIService) error {
	a.apiServicesMu.Lock()
	defer a.apiServicesMu.Unlock()
	res, missing := a.apiServices(), want()
	var errs []error
	for rec := range a.store.View().Range(codec.Key(res, "", ""), "") {
		name := nameFromKey(rec.Key)
		wanted := missing[name]
		delete(missing, name)
		label, _ := rec.Labels.Get(apiregistration.ManagedLabel)
		isManaged := label == apiregistration.ManagedOnStart || label == apiregistration.ManagedAlways
		if isManaged && (wanted != nil || label == managed) {
			errs = append(errs, a.writeAPIService(res, name, wanted))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		errs = append(errs, a.writeAPIService(res, name, missing[name]))
	}
	return errors.Join(errs...)
}

// writeAPIService creates the APIService with a name, updates its spec, or deletes it if wanted is
// nil.
func (a *API) writeAPIService(res *resource.Resource, name string, wanted *apiregistrationv1.APIService) error {
	manager, err := a.types.FieldManager(res, "")
	if err != nil {
		return err
	}
	_, err = a.store.Write(context.Background(), res, codec.Key(res, "", name), false, func(old runtime.Object) (runtime.Object, error) {
		if wanted == nil {
			return nil, nil
		}
		obj := wanted.DeepCopy()
		if old != nil {
			obj = old.(*apiregistrationv1.APIService).DeepCopy()
			if obj.Spec = wanted.Spec; equality.Semantic.DeepEqual(obj, old) {
				return old, nil
			}
		} else {
			obj.UID, obj.CreationTimestamp = a.newUID(), a.clock.Timestamp()
		}
		updated := a.clock.UpdateManagedFields(manager, old, obj, serverManager)
		if s := updated.(*apiregistrationv1.APIService); old == nil {
			available := helper.NewLocalAvailableAPIServiceCondition()
			available.LastTransitionTime = metav1.NewTime(a.clock.Timestamp().Time)
			helper.SetAPIServiceCondition(s, available)
		}
		return updated, nil
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("APIService %s: %w", name, err)
	}
	return nil
}
