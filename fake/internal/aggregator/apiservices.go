package aggregator

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// apiServicesPrefix is the prefix of the keys of APIServices.
const apiServicesPrefix = "apiservices." + apiregistrationv1.GroupName + "/"

// APIService is an APIService that leads to another API server. It must not be changed.
type APIService struct {
	*apiregistrationv1.APIService
	record *memstore.Record
}

// GroupVersion returns the group and version that the server has.
func (s *APIService) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: s.Spec.Group, Version: s.Spec.Version}
}

// IsAvailable reports whether requests are forwarded.
func (s *APIService) IsAvailable() bool {
	return helper.IsAPIServiceConditionTrue(s.APIService, apiregistrationv1.Available)
}

// isLocal reports whether the status is that of a local APIService.
func (s *APIService) isLocal() bool {
	local, current := helper.NewLocalAvailableAPIServiceCondition(), helper.GetAPIServiceConditionByType(s.APIService, apiregistrationv1.Available)
	return current != nil && current.Status == local.Status && current.Reason == local.Reason && current.Message == local.Message
}

// services are the APIServices that lead to other servers, at one state of the store.
type services struct {
	all       memstore.Identity // of the whole store
	identity  memstore.Identity // of the APIServices
	byVersion map[schema.GroupVersion]*APIService
	// sorted has the same ones by name.
	sorted []*APIService
	// unavailable are local APIServices that are not available: they led to other servers before.
	unavailable []*APIService
}

// current returns the APIServices of the current state of the store.
func (a *Aggregator) current() *services {
	known := a.services.Load()
	view := a.store.View()
	all := view.Identity("")
	if known != nil && known.all == all {
		return known
	}
	fresh := &services{all: all, identity: view.Identity(apiServicesPrefix)}
	if known != nil && known.identity == fresh.identity {
		fresh.byVersion, fresh.sorted, fresh.unavailable = known.byVersion, known.sorted, known.unavailable
	} else {
		fresh.read(view, known)
	}
	a.services.Store(fresh)
	return fresh
}

// read reads the APIServices of a view. Those that have not changed since known are the same.
func (s *services) read(view memstore.View, known *services) {
	res := builtin.Table().Lookup(apiregistrationv1.GroupName, "v1", "apiservices")
	before := make(map[*memstore.Record]*APIService)
	if known != nil {
		for _, service := range known.sorted {
			before[service.record] = service
		}
	}
	s.byVersion = make(map[schema.GroupVersion]*APIService)
	for rec := range view.Range(apiServicesPrefix, "") {
		service := before[rec]
		if service == nil {
			obj, err := codec.DecodeStored(res, rec)
			if err != nil {
				continue // it cannot be read either
			}
			res.SetDefaults(obj) // a fixture may have no port
			service = &APIService{obj.(*apiregistrationv1.APIService), rec}
		}
		if service.Spec.Service == nil && !service.isLocal() {
			s.unavailable = append(s.unavailable, service)
		}
		if service.Spec.Service == nil || service.Name != service.Spec.Version+"."+service.Spec.Group {
			continue
		}
		s.byVersion[service.GroupVersion()] = service
	}
	for _, service := range s.byVersion {
		s.sorted = append(s.sorted, service)
	}
	slices.SortFunc(s.sorted, func(a, b *APIService) int { return cmp.Compare(a.Name, b.Name) })
}

// Find returns the APIService of a group and version that leads to another server, or nil.
func (a *Aggregator) Find(group, version string) *APIService {
	return a.current().byVersion[schema.GroupVersion{Group: group, Version: version}]
}

// HasGroup reports whether another server has a version of a group.
func (a *Aggregator) HasGroup(group string) bool {
	return slices.ContainsFunc(a.current().sorted, func(s *APIService) bool { return s.Spec.Group == group })
}

// Unavailable returns the groups and versions whose servers are not available.
func (a *Aggregator) Unavailable() (all []schema.GroupVersion) {
	for _, s := range a.current().sorted {
		if !s.IsAvailable() {
			all = append(all, s.GroupVersion())
		}
	}
	return all
}
