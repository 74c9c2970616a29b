package fakeapi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// families returns the policy, families and addresses of a Service, with 4 and 6 for addresses.
func families(service *corev1.Service) string {
	var ips []string
	for _, ip := range service.Spec.ClusterIPs {
		switch {
		case ip == corev1.ClusterIPNone:
			ips = append(ips, ip)
		case len(ip) > 4 && ip[:4] == "fd00":
			ips = append(ips, "6")
		default:
			ips = append(ips, "4")
		}
	}
	policy := "none"
	if service.Spec.IPFamilyPolicy != nil {
		policy = string(*service.Spec.IPFamilyPolicy)
	}
	return fmt.Sprint(policy, " ", service.Spec.IPFamilies, " ", ips)
}

func TestServiceFamilies(t *testing.T) {
	four, six := "10.0.0.0/24", "fd00::/108"
	for _, test := range []struct {
		ranges     []string
		spec, want string
	}{
		{[]string{four}, `{}`, "SingleStack [IPv4] [4]"},
		{[]string{four}, `{"ipFamilyPolicy":"PreferDualStack"}`, "PreferDualStack [IPv4] [4]"},
		{[]string{four}, `{"clusterIP":"None"}`, "SingleStack [IPv4] [None]"},
		{[]string{four}, `{"clusterIP":"None","selector":null}`, "RequireDualStack [IPv4 IPv6] [None]"},
		{[]string{four}, `{"clusterIP":"None","selector":null,"ipFamilyPolicy":"SingleStack"}`, "SingleStack [IPv4] [None]"},
		{[]string{four}, `{"clusterIP":"None","selector":null,"ipFamilies":["IPv6"]}`, "RequireDualStack [IPv6 IPv4] [None]"},
		{[]string{four}, `{"type":"ExternalName","externalName":"a.example.com"}`, "none [] []"},
		{[]string{six}, `{}`, "SingleStack [IPv6] [6]"},
		{[]string{six}, `{"clusterIP":"fd00::7"}`, "SingleStack [IPv6] [6]"},
		{[]string{four, six}, `{}`, "SingleStack [IPv4] [4]"},
		{[]string{six, four}, `{}`, "SingleStack [IPv6] [6]"},
		{[]string{four, six}, `{"ipFamilies":["IPv6"]}`, "SingleStack [IPv6] [6]"},
		{[]string{four, six}, `{"clusterIP":"fd00::7"}`, "SingleStack [IPv6] [6]"},
		{[]string{four, six}, `{"ipFamilyPolicy":"PreferDualStack"}`, "PreferDualStack [IPv4 IPv6] [4 6]"},
		{[]string{four, six}, `{"ipFamilyPolicy":"RequireDualStack","ipFamilies":["IPv6"]}`, "RequireDualStack [IPv6 IPv4] [6 4]"},
		{[]string{four, six}, `{"ipFamilyPolicy":"RequireDualStack","clusterIP":"fd00::7"}`, "RequireDualStack [IPv6 IPv4] [6 4]"},
		{[]string{four, six}, `{"ipFamilyPolicy":"RequireDualStack","clusterIP":"fd00::7","clusterIPs":["fd00::7","10.0.0.7"]}`, "RequireDualStack [IPv6 IPv4] [6 4]"},
		{[]string{four, six}, `{"ipFamilyPolicy":"PreferDualStack","clusterIP":"None"}`, "PreferDualStack [IPv4 IPv6] [None]"},
	} {
		c := newServiceClient(t, fakeapi.Start(t, fakeapi.WithServiceClusterIPRange(test.ranges...)))
		require.Equal(t, test.want, families(c.create("s", test.spec)), "%v %s", test.ranges, test.spec)
	}
}

// A Service becomes dual-stack and single-stack again.
func TestServiceFamilyChanges(t *testing.T) {
	c := newServiceClient(t, fakeapi.Start(t, fakeapi.WithServiceClusterIPRange("10.0.0.0/24", "fd00::/108")))
	ip := c.create("s", `{}`).Spec.ClusterIP
	both := c.patch("s", `{"spec":{"ipFamilyPolicy":"PreferDualStack"}}`)
	require.Equal(t, "PreferDualStack [IPv4 IPv6] [4 6]", families(both))
	require.Equal(t, ip, both.Spec.ClusterIP)
	require.Equal(t, map[string]string{ip: "s", both.Spec.ClusterIPs[1]: "s"}, c.addresses())

	_, err := c.tryPatch("s", `{"spec":{"clusterIPs":["`+ip+`"]}}`)
	require.EqualError(t, err, `Service "s" is invalid: spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be 'SingleStack' to release the secondary cluster IP`)
	_, err = c.tryPatch("s", `{"spec":{"ipFamilies":["IPv4"]}}`)
	require.EqualError(t, err, `Service "s" is invalid: spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be 'SingleStack' to release the secondary IP family`)
	require.Equal(t, both.ResourceVersion, c.patch("s", `{"metadata":{"labels":null}}`).ResourceVersion)

	require.Equal(t, "SingleStack [IPv4] [4]", families(c.patch("s", `{"spec":{"ipFamilyPolicy":"SingleStack"}}`)))
	require.Equal(t, map[string]string{ip: "s"}, c.addresses())
	require.Equal(t, "RequireDualStack [IPv4 IPv6] [4 6]", families(c.patch("s", fmt.Sprintf(`{"spec":{"ipFamilyPolicy":"RequireDualStack","clusterIPs":[%q,"fd00::9"]}}`, ip))))
	require.Equal(t, map[string]string{ip: "s", "fd00::9": "s"}, c.addresses())
	_, err = c.tryCreate("other", `{"clusterIP":"fd00::9"}`)
	require.ErrorContains(t, err, "failed to allocate IP fd00::9: provided IP is already allocated")
	c.patch("s", `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`)
	require.Empty(t, c.addresses())
}

// A kube-apiserver panics if it allocates an address of a family that is not configured, and
// answers with a 500.
func TestSelectorlessServiceBecomesHeadless(t *testing.T) {
	c := newServiceClient(t, fakeapi.Start(t, fakeapi.WithServiceClusterIPRange("10.0.0.0/24")))
	c.create("s", `{"ipFamilyPolicy":"PreferDualStack"}`)
	before := c.patch("s", `{"spec":{"selector":null}}`)
	_, err := c.tryPatch("s", `{"spec":{"clusterIP":"None"}}`)
	require.True(t, apierrors.IsInternalError(err), err)
	require.EqualError(t, err, "Internal error occurred: a kube-apiserver without a range for IPv6 panics at this update")
	after, err := c.CoreV1().Services("default").Get(t.Context(), "s", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestServiceCIDRs(t *testing.T) {
	c := newServiceClient(t, fakeapi.Start(t, fakeapi.WithoutSystemObjects(), fakeapi.WithServiceClusterIPRange("10.0.0.0/29")))
	for i := range 6 {
		c.create(fmt.Sprintf("s-%d", i), `{}`)
	}
	_, err := c.tryCreate("more", `{}`)
	require.EqualError(t, err, `Internal error occurred: failed to allocate a serviceIP for Service "more": range is full`)
	_, err = c.tryCreate("more", `{"clusterIP":"192.168.0.9"}`)
	require.ErrorContains(t, err, "the provided network does not match the current range")

	cidrs := c.NetworkingV1().ServiceCIDRs()
	extra := &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: "extra"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"192.168.0.0/28"}}}
	extra, err = cidrs.Create(t.Context(), extra, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "192.168.0.14", c.create("last", `{"clusterIP":"192.168.0.14"}`).Spec.ClusterIP)
	require.Contains(t, c.create("more", `{}`).Spec.ClusterIP, "192.168.0.")

	extra.Status.Conditions = []metav1.Condition{{Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionFalse, Reason: "Terminating", LastTransitionTime: metav1.Now()}}
	_, err = cidrs.UpdateStatus(t.Context(), extra, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = c.tryCreate("too many", `{"clusterIP":"192.168.0.1"}`)
	require.ErrorContains(t, err, "the provided network does not match the current range")
	c.delete("last")
	require.NotContains(t, c.addresses(), "192.168.0.14", "addresses of ranges that are not ready are released")

	// The ServiceCIDR kubernetes replaces the configured range.
	c.delete("s-0")
	_, err = cidrs.Create(t.Context(), &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"172.16.0.0/24"}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Contains(t, c.create("s-0", `{}`).Spec.ClusterIP, "172.16.0.")
}

func TestServiceRangeOptions(t *testing.T) {
	for want, option := range map[string]fakeapi.Option{
		`fakeapi: service cluster IP range: "10.0.0.0" is not a range of addresses such as 10.96.0.0/12`:   fakeapi.WithServiceClusterIPRange("10.0.0.0"),
		`fakeapi: service cluster IP range: there is no range of addresses`:                                fakeapi.WithServiceClusterIPRange(),
		`fakeapi: service cluster IP range: there are more than two ranges of addresses`:                   fakeapi.WithServiceClusterIPRange("10.0.0.0/24", "fd00::/108", "10.1.0.0/24"),
		`fakeapi: service cluster IP range: the two ranges of addresses must be of different IP family`:    fakeapi.WithServiceClusterIPRange("10.0.0.0/24", "10.1.0.0/24"),
		`fakeapi: service cluster IP range: the service cluster IP range must be at least 8 IP addresses`:  fakeapi.WithServiceClusterIPRange("10.0.0.0/30"),
		`fakeapi: service cluster IP range: shortest allowed prefix length for service CIDR is 64, got 48`: fakeapi.WithServiceClusterIPRange("fd00::/48"),
		`fakeapi: service cluster IP range: "::ffff:10.0.0.0/120" has an IPv4-mapped IPv6 address`:         fakeapi.WithServiceClusterIPRange("::ffff:10.0.0.0/120"),
		`fakeapi: service node port range: "" is not a range of ports such as 30000-32767`:                 fakeapi.WithServiceNodePortRange(""),
		`fakeapi: service node port range: "0-10" is not a range of ports such as 30000-32767`:             fakeapi.WithServiceNodePortRange("0-10"),
		`fakeapi: service node port range: the port range cannot be greater than 65535: 30000-70000`:       fakeapi.WithServiceNodePortRange("30000-70000"),
	} {
		_, err := fakeapi.New(option)
		require.EqualError(t, err, want)
	}
	srv := fakeapi.Start(t)
	for _, option := range []fakeapi.Option{fakeapi.WithServiceNodePortRange("30000-30010"), fakeapi.WithServiceClusterIPRange("10.0.0.0/24")} {
		_, err := srv.Replica(option)
		require.EqualError(t, err, "fakeapi: a replica has the ranges of its server; set WithServiceClusterIPRange and WithServiceNodePortRange for the server")
	}
}
