package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is the server of a kubeconfig, with a transport that has its credentials.
type cluster struct {
	base      *url.URL
	transport http.RoundTripper
	namespace string
	config    *rest.Config
}

// withToken returns a client that authenticates with a bearer token instead of the credentials of
// the kubeconfig.
func (c *cluster) withToken(token string) (*http.Client, error) {
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken = token
	return rest.HTTPClientFor(config)
}

// openCluster reads a kubeconfig, with its current context unless another is named. It sends no
// request.
func openCluster(ctx context.Context, kubeconfig, contextName string) (*cluster, error) {
	to, err := readCluster(ctx, kubeconfig, contextName)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig %s: %w", kubeconfig, err)
	}
	return to, nil
}

func readCluster(ctx context.Context, kubeconfig, contextName string) (*cluster, error) {
	loader := kubeconfigLoader(kubeconfig, contextName)
	config, err := interruptible(ctx, loader.ClientConfig)
	if err != nil {
		return nil, unwrapPathError(err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(config)
	return &cluster{base: base, transport: transport, namespace: namespace, config: config}, err
}

// kubeconfigLoader loads one kubeconfig and ignores the environment.
func kubeconfigLoader(kubeconfig, contextName string) clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: contextName})
}

// transport sends requests with the credentials of a kubeconfig. Requests that upgrade the
// connection use HTTP/1.1, as exec and port-forward need it.
type transport struct{ usual, upgrading http.RoundTripper }

func newTransport(config *rest.Config) (*transport, error) {
	usual, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	old := rest.CopyConfig(config)
	old.NextProtos = []string{"http/1.1"}
	upgrading, err := rest.TransportFor(old)
	return &transport{usual, upgrading}, err
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Upgrade") != "" {
		return t.upgrading.RoundTrip(r)
	}
	return t.usual.RoundTrip(r)
}
