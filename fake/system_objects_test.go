package fakeapi_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

func TestSystemObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithSeed(1))
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	ctx := t.Context()

	service, err := client.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "10.96.0.1", service.Spec.ClusterIP)
	require.Equal(t, map[string]string{"component": "apiserver", "provider": "kubernetes"}, service.Labels)
	ip, err := client.NetworkingV1().IPAddresses().Get(ctx, service.Spec.ClusterIP, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "kubernetes", ip.Spec.ParentRef.Name)
	cidr, err := client.NetworkingV1().ServiceCIDRs().Get(ctx, "kubernetes", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"10.96.0.0/12"}, cidr.Spec.CIDRs)
	slice, err := client.DiscoveryV1().EndpointSlices("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	require.NoError(t, err)
	require.Contains(t, srv.URL(), fmt.Sprintf(":%d", *slice.Ports[0].Port))
	require.Equal(t, *slice.Ports[0].Port, service.Spec.Ports[0].TargetPort.IntVal)

	classes, err := client.SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, classes.Items, 2)
	require.Equal(t, corev1.PreemptLowerPriority, *classes.Items[0].PreemptionPolicy)
	schemas, err := client.FlowcontrolV1().FlowSchemas().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	levels, err := client.FlowcontrolV1().PriorityLevelConfigurations().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Greater(t, len(schemas.Items), 10)
	require.Greater(t, len(levels.Items), 7)
	leases, err := client.CoordinationV1().Leases("kube-system").List(ctx, metav1.ListOptions{LabelSelector: "apiserver.kubernetes.io/identity=kube-apiserver"})
	require.NoError(t, err)
	require.Len(t, leases.Items, 1)
	require.Equal(t, "apiserver-nqcwmcdkcbstdzgltzkittpo2u", leases.Items[0].Name, "of the host fakeapi")

	uids := map[types.UID]bool{}
	for _, o := range []metav1.Object{service, ip, cidr, slice, &classes.Items[0], &schemas.Items[0], &levels.Items[0], &leases.Items[0]} {
		require.False(t, uids[o.GetUID()], "each object has another uid")
		uids[o.GetUID()] = true
		require.WithinDuration(t, time.Now(), o.GetCreationTimestamp().Time, time.Minute)
		version, err := strconv.Atoi(o.GetResourceVersion())
		require.NoError(t, err)
		require.LessOrEqual(t, version, 1000, "the first namespace has 1001")
	}
	again := fakeapi.Start(t, fakeapi.WithSeed(1))
	same, err := kubernetes.NewForConfigOrDie(again.RESTConfig()).CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, service.UID, same.UID, "uids follow from the seed")
}

// A request for a system PriorityClass does not delete it, also where there is none. A
// deletecollection does.
func TestDeleteSystemPriorityClasses(t *testing.T) {
	_, client := startClient(t)
	ctx, classes := t.Context(), client.SchedulingV1().PriorityClasses()
	for _, name := range []string{"system-cluster-critical", "system-node-critical"} {
		err := classes.Delete(ctx, name, metav1.DeleteOptions{})
		require.True(t, apierrors.IsForbidden(err))
		require.EqualError(t, err, `priorityclasses.scheduling.k8s.io "`+name+`" is forbidden: this is a system priority class and cannot be deleted`)
	}
	_, err := classes.Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, classes.Delete(ctx, "high", metav1.DeleteOptions{}))
	require.NoError(t, classes.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	list, err := classes.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, list.Items)
	require.True(t, apierrors.IsForbidden(classes.Delete(ctx, "system-node-critical", metav1.DeleteOptions{})))
}

// The objects have the values of the server for every configuration, and other objects have the
// same resourceVersions.
func TestSystemObjectsOfConfigurations(t *testing.T) {
	for _, c := range []struct {
		name, clusterIP string
		opts            []fakeapi.Option
	}{
		{"default", "10.96.0.1", nil},
		{"client CA", "10.96.0.1", []fakeapi.Option{fakeapi.WithClientCA()}},
		{"range", "10.0.0.1", []fakeapi.Option{fakeapi.WithServiceClusterIPRange("10.0.0.0/24")}},
		{"dual stack", "fd00::1", []fakeapi.Option{fakeapi.WithServiceClusterIPRange("fd00::/112", "10.0.0.0/24"), fakeapi.WithClientCA()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := fakeapi.Start(t, c.opts...)
			client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
			service, err := client.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, c.clusterIP, service.Spec.ClusterIP)
			require.Contains(t, srv.URL(), fmt.Sprintf(":%d", service.Spec.Ports[0].TargetPort.IntVal))
			first, err := client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, "1001", first.ResourceVersion)
			text, err := srv.Dump()
			require.NoError(t, err)
			for _, placeholder := range []string{"00000000-0000-4000-8000-000000000000", "1970-01-02", "2147483647"} {
				require.NotContains(t, text, placeholder)
			}
		})
	}
}

// systemResources returns the resources of the system objects other than namespaces, APIServices
// and those of RBAC.
func systemResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: "services"}, {Version: "v1", Resource: "endpoints"}, {Version: "v1", Resource: "configmaps"},
		{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
		{Group: "networking.k8s.io", Version: "v1", Resource: "ipaddresses"}, {Group: "networking.k8s.io", Version: "v1", Resource: "servicecidrs"},
		{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"}, {Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Resource: "flowschemas"},
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Resource: "prioritylevelconfigurations"},
	}
}

// An update that changes nothing is no write, so that the stored form is complete.
func TestSystemObjectsAreStoredInFull(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	for _, gvr := range systemResources() {
		list, err := client.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, list.Items, gvr)
		for _, o := range list.Items {
			updated, err := client.Resource(gvr).Namespace(o.GetNamespace()).Update(t.Context(), &o, metav1.UpdateOptions{})
			require.NoError(t, err)
			require.Equal(t, o.GetResourceVersion(), updated.GetResourceVersion(), "%s %s", gvr.Resource, o.GetName())
		}
	}
}

// The dump of a server can be loaded into another, with its system objects.
func TestLoadDumpOfSystemObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	text, err := srv.Dump()
	require.NoError(t, err)
	other := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(text))
	again, err := other.Dump()
	require.NoError(t, err)
	require.Equal(t, strings.Count(text, "\nkind:"), strings.Count(again, "\nkind:"))
}

func TestDocListsEverySystemObject(t *testing.T) {
	doc, _, _ := strings.Cut(readFile(t, "system_objects.go"), "func WithoutSystemObjects(")
	items := strings.Split(doc, "//   - ")[1:]
	text, err := fakeapi.Start(t, fakeapi.WithInMemoryNetwork()).Dump()
	require.NoError(t, err)
	objects := regexp.MustCompile(`(?m)^kind: (.*)\nmetadata:\n(?: .*\n)*?  name: (.*)$`).FindAllStringSubmatch(text, -1)
	require.Len(t, objects, strings.Count(text, "\nkind: "))
	for _, o := range objects {
		kind, name := o[1], o[2]
		if kind == "Namespace" {
			continue
		}
		i := slices.IndexFunc(items, func(item string) bool { return strings.Contains(item, kind) })
		require.GreaterOrEqual(t, i, 0, kind)
		if kind != "IPAddress" && kind != "Lease" { // their names depend on the server
			require.Contains(t, items[i], name, kind)
		}
	}
}

func TestWithoutSystemObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutSystemObjects())
	text, err := srv.Dump()
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(text, "\nkind: "), text)
	require.Equal(t, 4, strings.Count(text, "\nkind: Namespace\n"), text)
}

// Clients read from the ConfigMap who signs client certificates.
func TestClientCAOfSystemObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithClientCA())
	m, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
	require.NoError(t, err)
	cert, key, err := srv.IssueClientCertificate(time.Hour, "ann")
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(cert, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM([]byte(m.Data["client-ca-file"])))
	_, err = leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	require.NoError(t, err)
}
