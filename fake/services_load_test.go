package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// Services among the fixtures get addresses and ports, in any order.
func TestLoadServices(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutSystemObjects(), fakeapi.WithServiceClusterIPRange("10.0.0.0/29"), fakeapi.WithServiceNodePortRange("30000-30002"), fakeapi.WithObjects(
		newService(t, "any", `{"type":"NodePort","ports":[{"name":"a","port":1},{"name":"b","port":1,"protocol":"UDP"}]}`),
		newService(t, "external", `{"type":"ExternalName","externalName":"a.example.com"}`),
		newService(t, "headless", `{"clusterIP":"None"}`),
		newService(t, "four", `{"clusterIP":"10.0.0.4"}`),
		newService(t, "one", `{"clusterIP":"10.0.0.1"}`),
		newService(t, "two", `{"clusterIP":"10.0.0.2"}`),
		newService(t, "three", `{"clusterIP":"10.0.0.3","clusterIPs":["10.0.0.3"]}`),
		newService(t, "five", `{"clusterIP":"10.0.0.5","type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30001,"ports":[{"port":1,"nodePort":30000}]}`),
		newService(t, "elsewhere", `{"clusterIP":"192.168.0.1","type":"NodePort","ports":[{"port":1,"nodePort":1080}]}`),
	))
	c := newServiceClient(t, srv)
	loaded, err := c.CoreV1().Services("default").Get(t.Context(), "any", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.6"}, loaded.Spec.ClusterIPs)
	require.Equal(t, []int32{30002, 30002}, []int32{loaded.Spec.Ports[0].NodePort, loaded.Spec.Ports[1].NodePort})
	require.Equal(t, map[string]string{
		"10.0.0.1": "one", "10.0.0.2": "two", "10.0.0.3": "three", "10.0.0.4": "four", "10.0.0.5": "five", "10.0.0.6": "any", "192.168.0.1": "elsewhere",
	}, c.addresses())
	_, err = c.tryCreate("more", `{}`)
	require.ErrorContains(t, err, "range is full")

	require.NoError(t, srv.Load(newService(t, "later", `{"clusterIP":"192.168.0.2"}`)))
	err = srv.Load(newService(t, "again", `{"clusterIP":"192.168.0.2"}`))
	require.EqualError(t, err, `fakeapi: load *v1.Service default/again: Service "again" is invalid: spec.clusterIPs: Invalid value: ["192.168.0.2"]: failed to allocate IP 192.168.0.2: provided IP is already allocated`)
	c.delete("one")
	require.NoError(t, srv.Load(newService(t, "again", `{"clusterIP":"10.0.0.1"}`)))
}

func TestLoadServicesThatCollide(t *testing.T) {
	for want, specs := range map[string][2]string{
		`spec.clusterIPs: Invalid value: ["10.96.0.9"]: failed to allocate IP 10.96.0.9: provided IP is already allocated`: {`{"clusterIP":"10.96.0.9"}`, `{"clusterIP":"10.96.0.9"}`},
		`spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated`:                                 {`{"type":"NodePort","ports":[{"port":1,"nodePort":30000}]}`, `{"type":"NodePort","ports":[{"port":1,"nodePort":30000}]}`},
		`spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster`:                                        {`{}`, `{"ipFamilies":["IPv6"]}`},
		`spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address`:                                               {`{}`, `{"clusterIP":"x"}`},
	} {
		srv := fakeapi.Start(t)
		err := srv.Load(newService(t, "a", specs[0]), newService(t, "b", specs[1]))
		require.ErrorContains(t, err, `fakeapi: load *v1.Service default/b: Service "b" is invalid: `+want)
		require.Empty(t, newServiceClient(t, srv).addresses(), "nothing is loaded")
		require.NoError(t, srv.Load(newService(t, "a", specs[0])))
	}
}

// What Dump returns can be loaded, with the addresses of its Services.
func TestLoadServicesOfDump(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newServiceClient(t, srv)
	c.create("a", `{"type":"NodePort"}`)
	c.create("b", `{}`)
	dump, err := srv.Dump()
	require.NoError(t, err)
	loaded := fakeapi.Start(t, fakeapi.WithYAML(dump))
	require.Equal(t, c.addresses(), newServiceClient(t, loaded).addresses())

	stranger := &networkingv1.IPAddress{ObjectMeta: metav1.ObjectMeta{Name: "10.96.0.9"},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: "default", Name: "other"}}}
	err = srv.Load(stranger, newService(t, "c", `{"clusterIP":"10.96.0.9"}`))
	require.ErrorContains(t, err, "failed to allocate IP 10.96.0.9: provided IP is already allocated")
}

// What is allocated follows from the store: a snapshot, a fork and a replica know it.
func TestServicesOfSnapshots(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newServiceClient(t, srv)
	taken := `{"clusterIP":"10.96.0.9","type":"NodePort","ports":[{"port":80,"nodePort":30000}]}`
	before := srv.Snapshot()
	c.create("a", taken)
	after := srv.Snapshot()

	fork, err := srv.Fork()
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	f := newServiceClient(t, fork)
	requireTaken := func(c serviceClient) {
		t.Helper()
		_, err := c.tryCreate("b", `{"clusterIP":"10.96.0.9"}`)
		require.ErrorContains(t, err, "provided IP is already allocated")
		_, err = c.tryCreate("b", `{"type":"NodePort","ports":[{"port":80,"nodePort":30000}]}`)
		require.ErrorContains(t, err, "provided port is already allocated")
	}
	requireTaken(f)
	f.delete("a")
	f.create("b", taken)
	requireTaken(c)

	replica, err := srv.Replica()
	require.NoError(t, err)
	replica.Freeze()
	requireTaken(newServiceClient(t, replica.Server))
	require.NoError(t, srv.Restore(before, 1000))
	c.create("b", taken)
	require.NoError(t, srv.Restore(after, 1000))
	requireTaken(c)
	require.Equal(t, map[string]string{"10.96.0.9": "a"}, c.addresses())
}

// A list of Services and their IPAddresses is loaded like the objects.
func TestLoadListOfServices(t *testing.T) {
	list := &corev1.ServiceList{Items: []corev1.Service{*newService(t, "a", `{"clusterIP":"10.96.0.9"}`), *newService(t, "b", `{}`)}}
	srv := fakeapi.Start(t, fakeapi.WithObjects([]runtime.Object{list}...))
	require.Len(t, newServiceClient(t, srv).addresses(), 2)
}
