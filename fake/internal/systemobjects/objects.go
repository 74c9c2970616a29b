// Package systemobjects has the objects that a kube-apiserver creates when it starts, besides the
// system namespaces: the Service kubernetes with its endpoints and its range of addresses, the
// system PriorityClasses, the configuration of API priority and fairness, what clients and other
// servers read in kube-system, and with RBAC the bootstrap policy.
//
// [Load] stores them. Encoding them all takes a large part of the time that a server needs to
// start, so it is done once a process, with placeholders for what differs between servers. A server
// with another [Config] than the default encodes the objects that depend on it again.
package systemobjects

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"maps"
	"net/netip"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/certs"
)

// Config is what the objects depend on.
type Config struct {
	// System reports whether there are the objects that do not depend on the authorization.
	System bool
	// BootstrapPolicy reports whether there are the roles and bindings of the bootstrap policy of
	// RBAC.
	BootstrapPolicy bool
	// ServiceCIDRs are the ranges of the cluster IPs of Services, one for each family. The Service
	// kubernetes has the first address of the first range.
	ServiceCIDRs []netip.Prefix
	// Port is the port of the API server.
	Port int32
	// Authentication is the data of the ConfigMap extension-apiserver-authentication, which may be
	// nil. By default the server names users in headers as the proxy of certs.NewFrontProxy.
	Authentication map[string]string
}

// hostname is the host name of the API server.
const hostname = "fakeapi"

// configured returns the objects that depend on c, the same number for every c. Like those of
// common, their defaults are not set, and they have no uid and no time.
func (c *Config) configured() ([]runtime.Object, error) {
	proxy, err := certs.NewFrontProxy()
	if err != nil {
		return nil, err
	}
	objects := append(c.kubernetesService(), c.authenticationConfigMap(proxy))
	return objects, setServerManagedFields(objects)
}

// common returns the objects that do not depend on the configuration.
func common() ([]runtime.Object, error) {
	objects := slices.Concat(
		priorityClasses(),
		priorityLevelConfigurations(),
		flowSchemas(),
		apiServices(),
		[]runtime.Object{tokenTrackingConfigMap(), identityLease()},
	)
	return objects, setServerManagedFields(objects)
}

// authenticationConfigMap returns the ConfigMap from which aggregated API servers and kubelets read
// who signs client certificates, and which requests name their user in headers: by default those
// that the server forwards to aggregated API servers.
func (c *Config) authenticationConfigMap(proxy certs.FrontProxy) runtime.Object {
	data := maps.Clone(c.Authentication)
	if data["requestheader-client-ca-file"] == "" {
		if data == nil {
			data = make(map[string]string)
		}
		maps.Copy(data, map[string]string{
			"requestheader-client-ca-file":       string(proxy.AuthorityPEM),
			"requestheader-allowed-names":        `["` + certs.FrontProxyUser + `"]`,
			"requestheader-username-headers":     `["X-Remote-User"]`,
			"requestheader-uid-headers":          `["X-Remote-Uid"]`,
			"requestheader-group-headers":        `["X-Remote-Group"]`,
			"requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
		})
	}
	return &corev1.ConfigMap{ObjectMeta: inKubeSystem("extension-apiserver-authentication"), Data: data}
}

// tokenTrackingConfigMap returns the ConfigMap with the day since when uses of legacy service
// account tokens are recorded (KEP-2799).
func tokenTrackingConfigMap() runtime.Object {
	return &corev1.ConfigMap{
		ObjectMeta: inKubeSystem("kube-apiserver-legacy-service-account-token-tracking"),
		Data:       map[string]string{"since": placeholderTime.Format("2006-01-02")},
	}
}

// identityLease returns the Lease of the API server (KEP-1965). Its name has a hash of the names of
// the host and of the server, each after its length. It is not renewed.
func identityLease() runtime.Object {
	var identity []byte
	for _, text := range []string{hostname, "kube-apiserver"} {
		identity = append(binary.BigEndian.AppendUint16(identity, uint16(len(text))), text...)
	}
	hash := sha256.Sum256(identity)
	name := "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(hash[:16]))
	renewed := metav1.NewMicroTime(placeholderTime.Time)
	holder := name + "_" + placeholderUID
	lease := &coordinationv1.Lease{
		ObjectMeta: inKubeSystem(name),
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(3600)), RenewTime: &renewed},
	}
	lease.Labels = map[string]string{"apiserver.kubernetes.io/identity": "kube-apiserver", corev1.LabelHostname: hostname}
	return lease
}

func inKubeSystem(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}
}
