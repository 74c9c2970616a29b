//go:build unix

package etcd

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"

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

// listenForClients listens on the client URLs.
func listenForClients(flags *Flags, log klog.Logger) (listeners []net.Listener, err error) {
	defer func() {
		if err != nil {
			for _, l := range listeners {
				err = errors.Join(err, l.Close())
			}
		}
	}()
	for _, u := range flags.ListenClientURLs {
		l, err := listen(u, log)
		if err != nil {
			return listeners, err
		}
		if u.Scheme == "https" {
			config, err := flags.clientTLS()
			if err != nil {
				return append(listeners, l), err
			}
			l = tls.NewListener(l, config)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
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
