package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// WithWebhookDialer opens the connections to webhooks with a function like
// net.Dialer.DialContext, in the place of the network. In a testing/synctest bubble it
// leads to a webhook on a listener in memory: a connection of the network would keep
// virtual time from passing. TLS is spoken over what it gives. Unless
// WithServiceResolver says more, a webhook behind a Service is dialed as
// NAME.NAMESPACE.svc:PORT.
func WithWebhookDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(o *options) error {
		if dial == nil {
			return errors.New("fakeapi: WithWebhookDialer needs a function")
		}
		o.webhookNetwork.Dial = dial
		return nil
	}
}

// WithServiceResolver tells where Services are reached that webhooks are behind: it gives
// a host and a port, like 127.0.0.1:9443, and is asked for every call. What it says alone
// counts, whether or not there is a Service of that name; the certificate of the webhook is
// for NAME.NAMESPACE.svc in any case. Its error ends the call, and is what the client reads.
//
// Without it Services are looked for among the objects of the server. One that is
// not there is `service "NAME" not found`, as from a real server; one that is has no
// address, because there is no network of a cluster, and a dial fails like the look-up of
// an unknown host, unless WithWebhookDialer knows the way.
func WithServiceResolver(resolve func(namespace, name string, port int32) (address string, err error)) Option {
	return func(o *options) error {
		if resolve == nil {
			return errors.New("fakeapi: WithServiceResolver needs a function")
		}
		o.webhookNetwork.Services = resolve
		return nil
	}
}

// conversionNetwork is how webhooks are reached from a server with this store.
func (o *options) conversionNetwork(store *memstore.Store) versions.Network {
	n := o.webhookNetwork
	if n.Services == nil {
		n.Services = func(namespace, name string, port int32) (string, error) {
			return serviceAddress(store, namespace, name, port, o.webhookNetwork.Dial != nil)
		}
	}
	return n
}

// serviceAddress finds the address of a Service in a store, as a kube-apiserver without endpoint
// routing does, but for its cluster IP. reachable tells that somebody can dial it.
func serviceAddress(store *memstore.Store, namespace, name string, port int32, reachable bool) (string, error) {
	row := builtin.Table().Lookup("", "v1", "services")
	rec := store.View().Get(codec.Key(row, namespace, name))
	if rec == nil {
		return "", fmt.Errorf("service %q not found", name)
	}
	obj, err := codec.DecodeStored(row, rec)
	if err != nil {
		return "", err
	}
	spec := &obj.(*corev1.Service).Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		return net.JoinHostPort(spec.ExternalName, strconv.Itoa(int(port))), nil
	}
	if spec.ClusterIP == corev1.ClusterIPNone {
		return "", errors.New(`cannot route to service with ClusterIP "None"`)
	}
	if !hasPort(spec, port) {
		return "", fmt.Errorf("no service port %d found for service %q", port, name)
	}
	host := name + "." + namespace + ".svc"
	if !reachable {
		return "", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

func hasPort(spec *corev1.ServiceSpec, port int32) bool {
	for _, p := range spec.Ports {
		if p.Port == port {
			return true
		}
	}
	return false
}
