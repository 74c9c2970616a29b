package aggregator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// The prefixes of the keys of what the availability depends on besides APIServices.
const (
	servicesPrefix       = "services/"
	endpointSlicesPrefix = "endpointslices." + discoveryv1.GroupName + "/"
)

// inputs is what the availability of an APIService depends on, besides the server itself.
type inputs struct {
	spec    apiregistrationv1.APIServiceSpec
	service *memstore.Record
	slices  []*memstore.Record
}

// equals reports whether nothing has changed.
func (in *inputs) equals(other *inputs) bool {
	return in.service == other.service && slices.Equal(in.slices, other.slices) && equality.Semantic.DeepEqual(in.spec, other.spec)
}

// inputsOf returns what the availability of s depends on at a view.
func inputsOf(view memstore.View, s *APIService) *inputs {
	ref := s.Spec.Service
	in := &inputs{spec: s.Spec, service: view.Get(servicesPrefix + ref.Namespace + "/" + ref.Name)}
	for rec := range view.Range(endpointSlicesPrefix+ref.Namespace+"/", "") {
		if name, _ := rec.Labels.Get(discoveryv1.LabelServiceName); name == ref.Name {
			in.slices = append(in.slices, rec)
		}
	}
	return in
}

// check returns the condition Available of an APIService, without its time. If the server does not
// answer, isFailed is true, and the check is repeated soon.
func (a *Aggregator) check(ctx context.Context, s *APIService, in *inputs) (c apiregistrationv1.APIServiceCondition, isFailed bool) {
	c = apiregistrationv1.APIServiceCondition{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue}
	if c.Status, c.Reason, c.Message = checkService(in); c.Status != apiregistrationv1.ConditionTrue {
		return c, false
	}
	if err := a.checkServer(ctx, s); err != nil {
		c.Status, c.Reason, c.Message = apiregistrationv1.ConditionFalse, "FailedDiscoveryCheck", err.Error()
		return c, true
	}
	c.Reason, c.Message = "Passed", "all checks passed"
	return c, false
}

// checkService returns the status, the reason and the message of a Service without an address.
func checkService(in *inputs) (status apiregistrationv1.ConditionStatus, reason, message string) {
	ref := in.spec.Service
	unavailable := func(reason, format string, args ...any) (apiregistrationv1.ConditionStatus, string, string) {
		return apiregistrationv1.ConditionFalse, reason, fmt.Sprintf(format, args...)
	}
	if in.service == nil {
		return unavailable("ServiceNotFound", "service/%s in %q is not present", ref.Name, ref.Namespace)
	}
	obj, err := codec.DecodeStored(builtin.Table().Lookup("", "v1", "services"), in.service)
	if err != nil {
		return apiregistrationv1.ConditionUnknown, "ServiceAccessError", fmt.Sprintf("service/%s in %q cannot be checked due to: %v", ref.Name, ref.Namespace, err)
	}
	service := obj.(*corev1.Service)
	if service.Spec.Type != corev1.ServiceTypeClusterIP {
		return apiregistrationv1.ConditionTrue, "", ""
	}
	i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == *ref.Port })
	if i < 0 {
		return unavailable("ServicePortError", "service/%s in %q is not listening on port %d", ref.Name, ref.Namespace, *ref.Port)
	}
	portName := service.Spec.Ports[i].Name
	if len(in.slices) == 0 {
		return unavailable("EndpointsNotFound", "cannot find endpointslices for service/%s in %q", ref.Name, ref.Namespace)
	}
	for _, rec := range in.slices {
		obj, err := codec.DecodeStored(builtin.Table().Lookup(discoveryv1.GroupName, "v1", "endpointslices"), rec)
		if err != nil {
			return apiregistrationv1.ConditionUnknown, "EndpointsAccessError", fmt.Sprintf("service/%s in %q cannot be checked due to: %v", ref.Name, ref.Namespace, err)
		}
		if hasEndpoint(obj.(*discoveryv1.EndpointSlice), portName) {
			return apiregistrationv1.ConditionTrue, "", ""
		}
	}
	return unavailable("MissingEndpoints", "endpointslices for service/%s in %q have no addresses with port name %q", ref.Name, ref.Namespace, portName)
}

// hasEndpoint reports whether a slice has a ready endpoint and a port with a name.
func hasEndpoint(s *discoveryv1.EndpointSlice, portName string) bool {
	return slices.ContainsFunc(s.Endpoints, func(e discoveryv1.Endpoint) bool {
		return e.Conditions.Ready == nil || *e.Conditions.Ready
	}) && slices.ContainsFunc(s.Ports, func(p discoveryv1.EndpointPort) bool {
		return p.Name != nil && *p.Name == portName && p.Port != nil
	})
}

// The number of requests of a check, of which one must succeed, and the time limit of each.
const (
	checkAttempts = 5
	checkTimeout  = 5 * time.Second
)

// checkServer requests the discovery document of a group and version several times at once, and
// returns nil after the first success.
func (a *Aggregator) checkServer(ctx context.Context, s *APIService) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error, checkAttempts)
	for range checkAttempts {
		go func() { results <- a.requestDiscovery(ctx, s) }()
	}
	var err error
	for range checkAttempts {
		if err = <-results; err == nil {
			return nil
		}
	}
	return err
}

// requestDiscovery requests the discovery document of a group and version.
func (a *Aggregator) requestDiscovery(ctx context.Context, s *APIService) error {
	b, err := a.backend(&s.Spec)
	if err != nil {
		return err
	}
	ref := s.Spec.Service
	host, err := a.transport.ServiceAddress(ref.Namespace, ref.Name, *ref.Port)
	if err != nil {
		return err
	}
	path := "/apis/" + s.Spec.Group + "/" + s.Spec.Version
	if s.Spec.Group == "" {
		path = "/api/" + s.Spec.Version
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+path, http.NoBody)
	if err != nil {
		return err
	}
	u := aggregatorUser()
	transport.SetAuthProxyHeaders(r, u.GetName(), u.GetUID(), u.GetGroups(), u.GetExtra())
	client := http.Client{Transport: b.http, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err == nil {
		err = response.Body.Close()
		if response.StatusCode < 200 || response.StatusCode > 299 {
			err = fmt.Errorf("bad status from %v: %d", r.URL, response.StatusCode)
		}
	}
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			b.http.CloseIdleConnections()
		}
		return fmt.Errorf("failing or missing response from %v: %w", r.URL, err)
	}
	return nil
}
