//go:build unix

package etcd

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	"k8s.io/klog/v2"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// listenForPeers listens on the peer URLs, so that taken ports are errors. Connections are closed:
// there are no other members.
func (p *process) listenForPeers(flags *Flags) error {
	for _, u := range flags.ListenPeerURLs {
		l, err := listen(u, p.log)
		if err != nil {
			return err
		}
		p.peers = append(p.peers, l)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_ = conn.Close()
			}
		}()
	}
	return nil
}

// clientListener is a listener for clients.
type clientListener struct {
	net.Listener
	https bool
}

// listenForClients listens on the client URLs, and on those for HTTP only and for metrics, which
// respond to the same paths.
func listenForClients(flags *Flags, log klog.Logger) (listeners []clientListener, err error) {
	defer func() {
		if err != nil {
			for _, l := range listeners {
				err = errors.Join(err, l.Close())
			}
		}
	}()
	for _, u := range slices.Concat(flags.ListenClientURLs, flags.ListenClientHTTPURLs, flags.ListenMetricsURLs) {
		l, err := listen(u, log)
		if err != nil {
			return listeners, err
		}
		listeners = append(listeners, clientListener{l, u.Scheme == "https"})
		log.Info("Listening for clients", "address", l.Addr().String())
	}
	return listeners, nil
}

// serve serves the listeners until the server is closed.
func serve(server *http.Server, listeners []clientListener) {
	for _, l := range listeners {
		go func() {
			if l.https {
				_ = server.ServeTLS(l, "", "")
			} else {
				_ = server.Serve(l)
			}
		}()
	}
}

// listen listens on the address of a URL, or on the loopback address instead.
func listen(u url.URL, log klog.Logger) (net.Listener, error) {
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s: the scheme %s is not supported", &u, u.Scheme)
	}
	host, changed := controlplane.LoopbackHost(u.Hostname())
	address := net.JoinHostPort(host, u.Port())
	l, err := net.Listen("tcp", address)
	if err == nil && changed {
		log.Info("Listening on a loopback address only", "url", u.String(), "address", l.Addr().String())
	}
	return l, err
}
