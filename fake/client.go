package fakeapi

import (
	"context"
	"net"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// URL is the base URL of the server, without a slash at its end:
// "http://127.0.0.1:PORT", or a name that only Client and RESTConfig can reach
// with InMemory.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Client is a plain HTTP client that reaches the server. It is the same one at
// every call and ends with the server.
func (s *Server) Client() *http.Client { return s.client }

func (s *Server) newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: s.dial(), MaxIdleConnsPerHost: 64}}
}

// dial is how the in-memory network is reached, nil on TCP.
func (s *Server) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	if !s.opts.memory {
		return nil
	}
	return s.listener.dial
}

// RESTConfig is a configuration for client-go and everything built on it. Each
// call gives a new one, free to be changed. Client-side rate limiting is off.
func (s *Server) RESTConfig() *rest.Config {
	return &rest.Config{Host: s.URL(), Dial: s.dial(), QPS: -1}
}

// Kubeconfig is a kubeconfig file for kubectl and clients in other languages.
// With InMemory there is no address to put into it; use RESTConfig.
func (s *Server) Kubeconfig() ([]byte, error) {
	const name = "fakeapi"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: s.URL()}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}
