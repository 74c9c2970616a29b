package handlers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/serviceallocator"
	"example.com/fakeapi/memstore"
)

// allocation is what was allocated for the write of an object, which only a Service has. Its zero
// value is empty.
type allocation struct{ finish serviceallocator.Finish }

// beginCreate allocates for a new object, which has its name.
func (l *allocation) beginCreate(a *API, obj runtime.Object, dryRun bool) (err error) {
	if service, ok := obj.(*corev1.Service); ok {
		l.finish, err = a.services.BeginCreate(service, dryRun)
	}
	return err
}

// beginUpdate allocates for an object that replaces old.
func (l *allocation) beginUpdate(a *API, obj, old runtime.Object, dryRun bool) (err error) {
	if service, ok := obj.(*corev1.Service); ok {
		l.finish, err = a.services.BeginUpdate(service, old.(*corev1.Service), dryRun)
	}
	return err
}

// commit keeps what was allocated, for an object that was stored.
func (l *allocation) commit() { l.end(true) }

// revert releases what was allocated, unless commit was called.
func (l *allocation) revert() { l.end(false) }

func (l *allocation) end(success bool) {
	if finish := l.finish; finish != nil {
		l.finish = nil
		finish(success)
	}
}

// checkService returns why a write of a Service is refused, before anything is allocated for it, so
// that a refused Service leaves no trace. A real server allocates first, and then releases. obj may
// be of another type.
func (a *API) checkService(ctx context.Context, res *resource.Resource, obj, old runtime.Object, dryRun bool) error {
	service, ok := obj.(*corev1.Service)
	if !ok || dryRun || service.Name == "" { // nothing can be allocated without a name
		return nil
	}
	trial := service.DeepCopy()
	was, _ := old.(*corev1.Service)
	if a.services.Try(trial, was) != nil {
		return nil // the allocation itself fails
	}
	if was == nil {
		return rest.ValidateCreate(ctx, res, trial)
	}
	return rest.BeforeUpdate(ctx, res, nil, trial, old)
}

func (a *API) newServiceAllocator(reserved *serviceallocator.ReservedPorts) *serviceallocator.Allocator {
	return serviceallocator.New(serviceallocator.Allocator{
		Config: a.settings.Services, Store: a.store, Table: a.types.Table, IDs: a.ids, Reserved: reserved,
		CreateIPAddress: a.createIPAddress, DeleteIPAddress: a.deleteIPAddress,
	})
}

// createIPAddress stores an IPAddress as a client in the API server does.
func (a *API) createIPAddress(address *networkingv1.IPAddress) error {
	res := a.ipAddresses()
	manager, err := a.types.FieldManager(res, "")
	if err != nil {
		return err
	}
	ctx := context.Background() // the address is released if the request ends before the Service is stored
	obj := a.clock.UpdateManagedFields(manager, nil, address, serverManager)
	rest.PrepareForCreate(ctx, res, obj, a.ids, a.clock.Timestamp())
	_, err = a.store.GuaranteedUpdate(ctx, res, codec.Key(res, "", address.Name), false, func(old runtime.Object) (runtime.Object, error) {
		if old != nil {
			return nil, serviceallocator.ErrAllocated
		}
		return obj, nil
	})
	return err
}

func (a *API) deleteIPAddress(name string) error {
	res := a.ipAddresses()
	return a.deleteKey(res, codec.Key(res, "", name), &metav1.DeleteOptions{})
}

func (a *API) ipAddresses() *resource.Resource {
	return a.types.Table().Lookup(networkingv1.GroupName, "v1", "ipaddresses")
}

// afterWrite is the AfterWrite function of the store.
func (a *API) afterWrite(res *resource.Resource, e *memstore.Event) error {
	if res.Group == "" && res.Plural == "services" && e.Prev != nil {
		a.services.AfterWrite(res, e)
	}
	if isAPIServices(res) {
		return a.afterAPIServiceWrite(e)
	}
	return a.crds.AfterWrite(res, e)
}
