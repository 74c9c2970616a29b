package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// newService returns a Service with a name and, in JSON, a spec. It has one port unless spec has
// ports, or is of type ExternalName.
func newService(t testing.TB, name, spec string) *corev1.Service {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	service.Spec.Selector = map[string]string{"app": name}
	require.NoError(t, json.Unmarshal([]byte(spec), &service.Spec))
	if len(service.Spec.Ports) == 0 && service.Spec.Type != corev1.ServiceTypeExternalName {
		service.Spec.Ports = []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(80)}}
	}
	return service
}

// serviceClient creates, changes and deletes the Services of a test in the namespace default.
type serviceClient struct {
	*testing.T
	kubernetes.Interface
}

func newServiceClient(t *testing.T, srv *fakeapi.Server) serviceClient {
	return serviceClient{t, kubernetes.NewForConfigOrDie(srv.RESTConfig())}
}

func (c serviceClient) tryCreate(name, spec string, dryRun ...string) (*corev1.Service, error) {
	return c.CoreV1().Services("default").Create(c.Context(), newService(c, name, spec), metav1.CreateOptions{DryRun: dryRun})
}

func (c serviceClient) create(name, spec string, dryRun ...string) *corev1.Service {
	c.Helper()
	service, err := c.tryCreate(name, spec, dryRun...)
	require.NoError(c, err)
	return service
}

func (c serviceClient) tryPatch(name, patch string) (*corev1.Service, error) {
	return c.CoreV1().Services("default").Patch(c.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
}

func (c serviceClient) patch(name, patch string) *corev1.Service {
	c.Helper()
	service, err := c.tryPatch(name, patch)
	require.NoError(c, err)
	return service
}

func (c serviceClient) delete(name string) {
	c.Helper()
	require.NoError(c, c.CoreV1().Services("default").Delete(c.Context(), name, metav1.DeleteOptions{}))
}

// addresses returns the names of the IPAddresses with the names of their Services, without that of
// the Service kubernetes.
func (c serviceClient) addresses() map[string]string {
	c.Helper()
	list, err := c.NetworkingV1().IPAddresses().List(c.Context(), metav1.ListOptions{})
	require.NoError(c, err)
	found := map[string]string{}
	for _, a := range list.Items {
		found[a.Name] = a.Spec.ParentRef.Name
	}
	maps.DeleteFunc(found, func(_, service string) bool { return service == "kubernetes" })
	return found
}

func TestClusterIP(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newServiceClient(t, srv)
	service := c.create("any", `{}`)
	ip := service.Spec.ClusterIP
	require.Equal(t, []string{ip}, service.Spec.ClusterIPs)
	require.Equal(t, []corev1.IPFamily{"IPv4"}, service.Spec.IPFamilies)
	require.Equal(t, corev1.IPFamilyPolicySingleStack, *service.Spec.IPFamilyPolicy)
	require.True(t, netip.MustParsePrefix("10.96.0.0/12").Contains(netip.MustParseAddr(ip)), ip)
	require.False(t, netip.MustParsePrefix("10.96.0.0/24").Contains(netip.MustParseAddr(ip)), "%s is for Services that ask for it", ip)

	address, err := c.NetworkingV1().IPAddresses().Get(t.Context(), ip, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"ipaddress.kubernetes.io/ip-family": "IPv4", "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}, address.Labels)
	require.Equal(t, &networkingv1.ParentReference{Resource: "services", Namespace: "default", Name: "any"}, address.Spec.ParentRef)
	require.Len(t, address.ManagedFields, 1)
	require.Equal(t, "kube-apiserver", address.ManagedFields[0].Manager)
	require.NotEmpty(t, address.UID)
	require.Less(t, address.ResourceVersion, service.ResourceVersion, "it is created before the Service")

	c.create("headless", `{"clusterIP":"None"}`)
	c.create("external", `{"type":"ExternalName","externalName":"a.example.com"}`)
	require.Equal(t, map[string]string{ip: "any"}, c.addresses())
	c.delete("any")
	require.Empty(t, c.addresses())
}

// A name of an IPAddress is an address, so that a generated one is the generateName itself.
func TestGeneratedNameOfIPAddress(t *testing.T) {
	srv := fakeapi.Start(t)
	create := func(generateName string) (int, metav1.Status) {
		return sendForStatus(t, srv, "POST", "/apis/networking.k8s.io/v1/ipaddresses", "application/json",
			`{"metadata":{"generateName":"`+generateName+`"},"spec":{"parentRef":{"resource":"services","namespace":"default","name":"s"}}}`)
	}
	code, _ := create("10.96.0.77")
	require.Equal(t, 201, code)
	c := newServiceClient(t, srv)
	address, err := c.NetworkingV1().IPAddresses().Get(t.Context(), "10.96.0.77", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "10.96.0.77", address.GenerateName)

	code, status := create("10.96.0.77")
	require.Equal(t, 409, code)
	require.Equal(t, `ipaddresses.networking.k8s.io "10.96.0.77" already exists, the server was not able to generate a unique name for the object`, status.Message)
	code, status = create("10.96.0.")
	require.Equal(t, 422, code)
	require.Contains(t, status.Message, `IPAddress.networking.k8s.io "10.96.0." is invalid: [metadata.generateName: Invalid value: "10.96.0.": must be a valid IP address`)
}

func TestServiceAllocationErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithServiceNodePortRange("30000-30001"))
	c := newServiceClient(t, srv)
	c.create("first", `{"clusterIP":"10.96.0.9","type":"NodePort","ports":[{"port":80,"nodePort":30000}]}`)
	before := storeVersion(t, srv)
	for spec, want := range map[string]string{
		`{"clusterIP":"10.96.0.9"}`:                                         `Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.9"]: failed to allocate IP 10.96.0.9: provided IP is already allocated`,
		`{"clusterIP":"10.95.0.9"}`:                                         `Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.95.0.9"]: failed to allocate IP 10.95.0.9: the provided network does not match the current range`,
		`{"clusterIP":"10.96.0.0"}`:                                         `Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.0"]: failed to allocate IP 10.96.0.0: the provided network does not match the current range`,
		`{"clusterIP":"x"}`:                                                 `Service "s" is invalid: spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
		`{"clusterIP":"10.96.0.08"}`:                                        `Service "s" is invalid: spec.clusterIPs[0]: Invalid value: "10.96.0.08": must not have leading 0s`,
		`{"clusterIP":"2001:db8::1"}`:                                       `Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["2001:db8::1"]: IPv6 is not configured on this cluster`,
		`{"clusterIPs":["10.96.0.8"]}`:                                      "Service \"s\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.8\"]: must be empty when `clusterIP` is not specified",
		`{"clusterIP":"10.96.0.8","clusterIPs":["10.96.0.7"]}`:              "Service \"s\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.7\"]: first value must match `clusterIP`",
		`{"ipFamilies":["IPv6"]}`:                                           `Service "s" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster`,
		`{"ipFamilies":["IPv4","IPv4"],"ipFamilyPolicy":"PreferDualStack"}`: `Service "s" is invalid: spec.ipFamilies[1]: Duplicate value: "IPv4"`,
		`{"ipFamilies":["IPv4","IPv6"]}`:                                    `Service "s" is invalid: spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
		`{"ipFamilyPolicy":"RequireDualStack"}`:                             `Service "s" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services`,
		`{"ipFamilyPolicy":"AnyStack"}`:                                     `Service "s" is invalid: spec.ipFamilyPolicy: Unsupported value: "AnyStack": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"`,
		`{"ipFamilies":["IPv5"]}`:                                           `Service "s" is invalid: spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"`,

		`{"clusterIP":"10.96.0.9","type":"NodePort","ports":[{"port":80,"nodePort":1}]}`:      `Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.9"]: failed to allocate IP 10.96.0.9: provided IP is already allocated`,
		`{"type":"NodePort","ports":[{"port":80,"nodePort":30000}]}`:                          `Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated`,
		`{"type":"NodePort","ports":[{"port":80,"nodePort":29999}]}`:                          `Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 29999: provided port is not in the valid range. The range of valid ports is 30000-30001`,
		`{"type":"NodePort","ports":[{"name":"a","port":80},{"name":"b","port":81}]}`:         `Internal error occurred: failed to allocate a nodePort: range is full`,
		`{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30000}`: `Internal error occurred: failed to allocate requested HealthCheck NodePort 30000: provided port is already allocated`,
		`{"type":"LoadBalancer","externalTrafficPolicy":"Local"}`:                             `Internal error occurred: failed to allocate a HealthCheck NodePort 0: range is full`,

		// A Service is validated after the allocation.
		`{"clusterIP":"10.96.0.9","sessionAffinity":"x"}`:                                         `Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.9"]: failed to allocate IP 10.96.0.9: provided IP is already allocated`,
		`{"clusterIP":"10.95.0.9","sessionAffinity":"x"}`:                                         `Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.95.0.9"]: failed to allocate IP 10.95.0.9: the provided network does not match the current range`,
		`{"type":"NodePort","sessionAffinity":"x","ports":[{"port":80,"nodePort":1}]}`:            `Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 1: provided port is not in the valid range. The range of valid ports is 30000-30001`,
		`{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":-1}`:        `Internal error occurred: failed to allocate requested HealthCheck NodePort -1: provided port is not in the valid range. The range of valid ports is 30000-30001`,
		`{"clusterIP":"10.96.0.8","type":"NodePort","sessionAffinity":"x","ports":[{"port":80}]}`: `Service "s" is invalid: spec.sessionAffinity: Unsupported value: "x": supported values: "ClientIP", "None"`,
	} {
		_, err := c.tryCreate("s", spec)
		require.EqualError(t, err, want, spec)
	}
	_, err := c.tryCreate("", `{}`)
	require.ErrorContains(t, err, `Service "" is invalid: spec.clusterIPs: Invalid value: [""]: failed to allocate IP: IPAddress.networking.k8s.io "10.`)
	require.ErrorContains(t, err, `is invalid: spec.parentRef.name: Required value`)
	require.Equal(t, before, storeVersion(t, srv), "what is refused leaves no trace")
	require.Equal(t, map[string]string{"10.96.0.9": "first"}, c.addresses(), "what failed was released")
	require.Equal(t, int32(30001), c.create("s", `{"type":"NodePort"}`).Spec.Ports[0].NodePort, "the port that failed requests had chosen")
}

func TestNodePorts(t *testing.T) {
	c := newServiceClient(t, fakeapi.Start(t))
	dns := c.create("dns", `{"type":"NodePort","ports":[
		{"name":"u","port":53,"protocol":"UDP"},{"name":"t","port":53},{"name":"m","port":9153},{"name":"x","port":1,"nodePort":30001}]}`).Spec.Ports
	require.Equal(t, dns[0].NodePort, dns[1].NodePort)
	require.NotEqual(t, dns[0].NodePort, dns[2].NodePort)
	require.GreaterOrEqual(t, dns[2].NodePort, int32(30086), "the first ports are for Services that ask for them")
	_, err := c.tryCreate("again", fmt.Sprintf(`{"type":"NodePort","ports":[{"port":1,"nodePort":%d}]}`, dns[2].NodePort))
	require.True(t, apierrors.IsInvalid(err), err)

	balanced := c.create("balanced", `{"type":"LoadBalancer","externalTrafficPolicy":"Local","allocateLoadBalancerNodePorts":false,"ports":[
		{"name":"a","port":1},{"name":"b","port":2,"nodePort":30002}]}`).Spec
	require.Zero(t, balanced.Ports[0].NodePort)
	require.NotZero(t, balanced.HealthCheckNodePort)
	_, err = c.tryCreate("again", fmt.Sprintf(`{"type":"NodePort","ports":[{"port":1,"nodePort":%d}]}`, balanced.HealthCheckNodePort))
	require.True(t, apierrors.IsInvalid(err), err)

	c.patch("balanced", `{"spec":{"externalTrafficPolicy":"Cluster","ports":[{"name":"a","port":1}]}}`)
	c.create("again", fmt.Sprintf(`{"type":"NodePort","ports":[{"name":"a","port":1,"nodePort":%d},{"name":"b","port":2,"nodePort":30002}]}`, balanced.HealthCheckNodePort))
	_, err = c.tryPatch("again", fmt.Sprintf(`{"spec":{"ports":[{"name":"a","port":1,"nodePort":%d}]}}`, dns[2].NodePort))
	require.EqualError(t, err, fmt.Sprintf(`Service "again" is invalid: spec.ports[0].nodePort: Invalid value: %d: provided port is already allocated`, dns[2].NodePort))
	_, err = c.tryPatch("again", `{"spec":{"ports":[{"name":"a","port":1,"nodePort":30003},{"name":"b","port":2,"nodePort":30003}]}}`)
	require.EqualError(t, err, `duplicate nodePort: {TCP 30003}`)
	_, err = c.tryPatch("again", `{"spec":{"sessionAffinity":"x","ports":[{"name":"a","port":1,"nodePort":1}]}}`)
	require.EqualError(t, err, `Service "again" is invalid: spec.ports[0].nodePort: Invalid value: 1: provided port is not in the valid range. The range of valid ports is 30000-32767`)
}

func TestServiceTypeChanges(t *testing.T) {
	c := newServiceClient(t, fakeapi.Start(t))
	ip := c.create("s", `{"type":"NodePort"}`).Spec.ClusterIP
	require.Empty(t, c.patch("s", `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`).Spec.ClusterIPs)
	require.Empty(t, c.addresses())
	c.create("next", fmt.Sprintf(`{"clusterIP":%q}`, ip))
	again := c.patch("s", `{"spec":{"type":"LoadBalancer","externalName":null}}`).Spec
	require.NotEqual(t, ip, again.ClusterIP)
	require.NotZero(t, again.Ports[0].NodePort)
	require.Equal(t, map[string]string{ip: "next", again.ClusterIP: "s"}, c.addresses())

	_, err := c.tryPatch("s", `{"metadata":{"resourceVersion":"1"},"spec":{"type":"ExternalName"}}`)
	require.True(t, apierrors.IsConflict(err), err)
	require.Len(t, c.addresses(), 2, "a write that failed released nothing")
}

// An update that fails after the allocation releases what it has allocated.
func TestRefusedServiceUpdateReleases(t *testing.T) {
	c := newServiceClient(t, fakeapi.Start(t, fakeapi.WithServiceNodePortRange("30000-30000")))
	c.create("s", `{"type":"ExternalName","externalName":"a.example.com"}`)
	_, err := c.tryPatch("s", `{"spec":{"type":"NodePort","externalName":null,"sessionAffinity":"x","clusterIP":"10.96.0.9","ports":[{"port":80}]}}`)
	require.EqualError(t, err, `Service "s" is invalid: spec.sessionAffinity: Unsupported value: "x": supported values: "ClientIP", "None"`)
	require.Empty(t, c.addresses())
	c.create("other", `{"type":"NodePort","clusterIP":"10.96.0.9"}`)
}

// The paths on which a Service is removed release its address.
func TestServiceRemovalReleases(t *testing.T) {
	ctx := context.Background()
	for name, remove := range map[string]func(serviceClient){
		"delete": func(c serviceClient) { c.delete("s") },
		"deletecollection": func(c serviceClient) {
			require.NoError(c, c.CoreV1().RESTClient().Delete().Namespace("default").Resource("services").Do(ctx).Error())
		},
		"last finalizer": func(c serviceClient) {
			c.patch("s", `{"metadata":{"finalizers":["a.example.com/x"]}}`)
			c.delete("s")
			require.Len(c, c.addresses(), 1)
			c.patch("s", `{"metadata":{"finalizers":null}}`)
		},
		"last finalizer with another type": func(c serviceClient) {
			c.patch("s", `{"metadata":{"finalizers":["a.example.com/x"]}}`)
			c.delete("s")
			c.patch("s", `{"metadata":{"finalizers":null},"spec":{"type":"NodePort"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t)
			c := newServiceClient(t, srv)
			c.create("s", `{"type":"NodePort","ports":[{"port":80,"nodePort":30123}]}`)
			requireCode(t, srv, 201, "POST", "/api/v1/namespaces/default/endpoints", `{"metadata":{"name":"s"}}`)
			remove(c)
			require.Empty(t, c.addresses())
			requireCode(t, srv, 200, "GET", "/api/v1/namespaces/default/endpoints/s", "") // a controller deletes them
			c.create("s", `{"type":"NodePort","ports":[{"port":80,"nodePort":30123}]}`)
		})
	}
}

func TestDeletedNamespaceReleases(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	c := newServiceClient(t, srv)
	service := newService(t, "s", `{"type":"NodePort"}`)
	service.Namespace = "team"
	_, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.CoreV1().Services("team").Create(t.Context(), service, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, c.CoreV1().Namespaces().Delete(t.Context(), "team", metav1.DeleteOptions{}))
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Empty(t, c.addresses())
}

func TestServiceDryRun(t *testing.T) {
	c := newServiceClient(t, fakeapi.Start(t))
	first := c.create("first", `{"type":"NodePort","clusterIP":"10.96.0.9","ports":[{"port":80,"nodePort":30000}]}`)
	dry := c.create("dry", `{"type":"NodePort","ports":[{"name":"a","port":80},{"name":"b","port":81}]}`, metav1.DryRunAll).Spec
	require.Equal(t, "10.96.0.0", dry.ClusterIP, "a real server returns the address of the network")
	require.Equal(t, []int32{32769, 32770}, []int32{dry.Ports[0].NodePort, dry.Ports[1].NodePort})
	require.Len(t, c.addresses(), 1)
	c.create("dry", `{"clusterIP":"10.96.0.9"}`, metav1.DryRunAll)
	_, err := c.tryCreate("dry", `{"clusterIP":"10.95.0.9"}`, metav1.DryRunAll)
	require.ErrorContains(t, err, "failed to allocate IP 10.95.0.9: the provided IP (10.95.0.9) is not in the valid range. The range of valid IPs is 10.96.0.0/12")
	_, err = c.tryCreate("dry", `{"type":"NodePort","ports":[{"port":80,"nodePort":30000}]}`, metav1.DryRunAll)
	require.ErrorContains(t, err, "provided port is already allocated")

	require.NoError(t, c.CoreV1().Services("default").Delete(t.Context(), "first", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
	require.Equal(t, map[string]string{first.Spec.ClusterIP: "first"}, c.addresses())
}

func TestServiceByApplyAndPut(t *testing.T) {
	c := newServiceClient(t, fakeapi.Start(t))
	put, err := c.CoreV1().Services("default").Update(t.Context(), newService(t, "put", `{"type":"NodePort"}`), metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, put.Spec.ClusterIP)
	for range 2 {
		again, err := c.CoreV1().Services("default").Update(t.Context(), newService(t, "put", `{"type":"NodePort"}`), metav1.UpdateOptions{})
		require.NoError(t, err)
		require.Equal(t, put.Spec, again.Spec)
		require.Equal(t, put.ResourceVersion, again.ResourceVersion, "the same manifest changes nothing")
	}
	apply := func() *corev1.Service {
		body := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"applied"},"spec":{"type":"NodePort","ports":[{"port":80,"protocol":"TCP"}]}}`
		service, err := c.CoreV1().Services("default").Patch(t.Context(), "applied", types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: "m"})
		require.NoError(t, err)
		return service
	}
	applied := apply()
	require.NotZero(t, applied.Spec.Ports[0].NodePort)
	require.Equal(t, applied.ResourceVersion, apply().ResourceVersion)
	require.Equal(t, map[string]string{put.Spec.ClusterIP: "put", applied.Spec.ClusterIP: "applied"}, c.addresses())

	taken := c.create("taken", `{}`).Spec.ClusterIP
	_, err = c.tryCreate("put", fmt.Sprintf(`{"clusterIP":%q}`, taken))
	require.True(t, apierrors.IsInvalid(err), "the address is allocated before the name is looked up: %v", err)
	_, err = c.tryCreate("put", `{}`)
	require.True(t, apierrors.IsAlreadyExists(err), err)
	require.Len(t, c.addresses(), 3)
}

// Requests that run at the same time never get the same address or port.
func TestConcurrentServices(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithServiceClusterIPRange("10.0.0.0/25"), fakeapi.WithServiceNodePortRange("30000-30109"))
	replica, err := srv.Replica()
	require.NoError(t, err)
	clients := []kubernetes.Interface{kubernetes.NewForConfigOrDie(srv.RESTConfig()), kubernetes.NewForConfigOrDie(replica.RESTConfig())}
	specs := make(chan corev1.ServiceSpec, 100)
	for i := range 100 {
		go func() {
			service, err := clients[i%2].CoreV1().Services("default").Create(context.Background(), newService(t, fmt.Sprintf("s-%d", i), `{"type":"NodePort"}`), metav1.CreateOptions{})
			assert.NoError(t, err)
			specs <- service.Spec
		}()
	}
	var ips []string
	var ports []int32
	for range 100 {
		spec := <-specs
		ips, ports = append(ips, spec.ClusterIP), append(ports, spec.Ports[0].NodePort)
	}
	slices.Sort(ips)
	slices.Sort(ports)
	require.Len(t, slices.Compact(ips), 100)
	require.Len(t, slices.Compact(ports), 100)
}

// What a request has allocated is released if it fails later, also by a panic.
func TestServiceRefusedByAdmission(t *testing.T) {
	review := func(_ context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		switch r.Name {
		case "panics":
			panic("ouch")
		case "refused":
			return &admissionv1.AdmissionResponse{}
		}
		return &admissionv1.AdmissionResponse{Allowed: true}
	}
	c := newServiceClient(t, fakeapi.Start(t, fakeapi.WithServiceNodePortRange("30000-30000"), fakeapi.WithAdmission(fakeapi.Admission{Name: "a", Review: review})))
	for _, name := range []string{"refused", "panics"} {
		_, err := c.tryCreate(name, `{"type":"NodePort"}`)
		require.Error(t, err)
		require.Empty(t, c.addresses(), name)
	}
	c.create("allowed", `{"type":"NodePort"}`)
}

func TestServicesOfSeed(t *testing.T) {
	allocate := func() (spec corev1.ServiceSpec) {
		c := newServiceClient(t, fakeapi.Start(t, fakeapi.WithSeed(7)))
		c.create("a", `{"type":"NodePort"}`)
		return c.create("b", `{"type":"LoadBalancer","externalTrafficPolicy":"Local"}`).Spec
	}
	require.Equal(t, allocate(), allocate())
}
