package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// WithWebhookDialer opens connections to webhooks, for admission and for conversion, with a
// function like net.Dialer.DialContext. Inside of a testing/synctest bubble it can connect to a
// webhook on a listener in memory; with a real connection virtual time would not pass. TLS is added
// to the connection. On net.Pipe, which has no buffer, a certificate that is not trusted fails only
// at the timeout of the call. Without WithServiceResolver a webhook behind a Service is dialed as
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

// WithRemoteWebhooks allows calls of webhooks, for admission and for conversion, at any address.
// Without it the server connects to loopback addresses only, so that tests do not depend on the
// network: a call of another address fails as if it were unreachable.
func WithRemoteWebhooks() Option {
	return func(o *options) error {
		o.webhookNetwork.AllowRemote = true
		return nil
	}
}

// WithAdmissionDelay makes changes of webhook configurations, and of admission policies, their
// bindings and parameters, take effect later, as on a real server, which reads them with informers:
// webhooks after some milliseconds, policies after up to a second. The default is no delay: they
// are effective for the next write. A delay is limited by the history, see WithLimits.
func WithAdmissionDelay(webhooks, policies time.Duration) Option {
	return func(o *options) error {
		if webhooks < 0 || policies < 0 {
			return errors.New("fakeapi: WithAdmissionDelay needs durations that are not negative")
		}
		o.webhookDelay, o.policyDelay = webhooks, policies
		return nil
	}
}

// WithServiceResolver sets the function that returns the address of a Service with a webhook as
// host and port, such as 127.0.0.1:9443. It is called for each call of the webhook. The Service
// need not exist. The certificate of the webhook must be valid for NAME.NAMESPACE.svc. An error
// fails the call and is sent to the client.
//
// Without it Services are objects of the server. One that does not exist fails with `service "NAME"
// not found`, as on a real server. One that exists has no address, because there is no cluster
// network: the dial fails like that of an unknown host, unless WithWebhookDialer can dial it. One
// of the type ExternalName leads to that name, such as localhost.
//
// Calls of the port 443 of the Service default/kubernetes are requests of system:apiserver to the
// server itself, as on a real server: the path can be one of an aggregated API.
//
// The servers of aggregated APIs are found in the same way, but their Services must exist.
func WithServiceResolver(resolve func(namespace, name string, port int32) (address string, err error)) Option {
	return func(o *options) error {
		if resolve == nil {
			return errors.New("fakeapi: WithServiceResolver needs a function")
		}
		o.webhookNetwork.Services = resolve
		return nil
	}
}

// webhookNetwork returns how the server calls webhooks. Its fault rules are applied to the calls.
func (s *Server) webhookNetwork() webhookclient.Network {
	n := s.opts.webhookNetwork
	reachable := n.Dial != nil
	if n.Services == nil {
		n.Services = func(namespace, name string, port int32) (string, error) {
			return serviceAddress(s.store, namespace, name, port, reachable)
		}
	}
	n.Self = loopback{s}
	n.Intercept = s.faults.WebhookCall
	return n
}

// serviceAddress returns the address of a Service as a kube-apiserver without endpoint routing
// does, except that it does not use the cluster IP. reachable is true if there is a dialer for the
// address.
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
