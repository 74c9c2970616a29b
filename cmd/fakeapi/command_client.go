package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// commandClient returns a client that runs a command until its context is done, and then kills it.
// The command reaches the server at a proxy, with the kubeconfig in KUBECONFIG. The proxy sets the
// user agent, and passes on what rules do to connections.
func (c *call) commandClient(args []string, output io.Writer) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		proxy, err := newClientProxy(config)
		if err != nil {
			return err
		}
		defer proxy.close()
		file, err := newKubeconfigFile("")
		if err != nil {
			return err
		}
		if err := file.write(proxy.kubeconfig); err != nil {
			return errors.Join(err, file.close())
		}
		command := c.subprocess(args, map[string]string{"KUBECONFIG": file.path, "FAKEAPI_URL": proxy.url})
		command.Stdin, command.Stdout, command.Stderr = nil, output, output
		command.Kill, command.RemoveAll = true, file.dir
		status, err := command.Run(ctx)
		if err == nil && status != 0 {
			err = fmt.Errorf("exit status %d", status)
		}
		return errors.Join(err, file.close())
	}
}

// clientProxy is a proxy for one client on a loopback address.
type clientProxy struct {
	url        string
	kubeconfig []byte
	server     *http.Server
	served     chan struct{} // closed when the server has ended
}

func newClientProxy(config *rest.Config) (*clientProxy, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("User-Agent", config.UserAgent)
		},
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:      nil,
	}
	p := &clientProxy{url: "http://" + listener.Addr().String(), server: &http.Server{Handler: forward}, served: make(chan struct{})}
	if p.kubeconfig, err = proxyKubeconfig(p.url, ""); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	go func() {
		defer close(p.served)
		_ = p.server.Serve(listener) // returns when the proxy is closed
	}()
	return p, nil
}

// close closes the proxy with its connections.
func (p *clientProxy) close() {
	_ = p.server.Close() // the connections are those of a command that has ended
	<-p.served
}
