//go:build unix

package kubeapiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// connectTimeout is how long connect waits for an etcd process that does not listen yet.
const connectTimeout = 20 * time.Second

// connectInterval is the time between two attempts to connect.
const connectInterval = 50 * time.Millisecond

// errNoEtcd is an error of an address where another program listens.
var errNoEtcd = errors.New("it is not the etcd that was started beside this kube-apiserver, which keeps objects in memory")

// connect connects to the first etcd process of --etcd-servers that accepts it. It waits for one
// that is not listening yet.
func (p *process) connect(ctx context.Context) (*controlplane.Conn, error) {
	deadline := time.Now().Add(connectTimeout)
	for logged := false; ; {
		conn, err := p.dial(ctx)
		if err == nil || errors.Is(err, errNoEtcd) || ctx.Err() != nil || time.Now().After(deadline) {
			return conn, err
		}
		if !logged {
			p.log.Error(err, "Waiting for etcd", "timeout", connectTimeout)
			logged = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(connectInterval):
		}
	}
}

// dial connects once.
func (p *process) dial(ctx context.Context) (_ *controlplane.Conn, err error) {
	client, err := p.etcdClient()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	if len(p.flags.EtcdServers) == 0 {
		return nil, errors.New("--etcd-servers must be specified")
	}
	for _, server := range p.flags.EtcdServers {
		address, addressErr := readAddress(ctx, client, server)
		if addressErr == nil {
			conn, dialErr := controlplane.Dial(ctx, address.Socket)
			if dialErr == nil {
				return conn, nil
			}
			addressErr = fmt.Errorf("etcd server %s: %w", server, dialErr)
		}
		err = errors.Join(err, addressErr)
	}
	return nil, err
}

// etcdClient returns an HTTP client with the certificates of --etcd-cafile, --etcd-certfile and
// --etcd-keyfile.
func (p *process) etcdClient() (*http.Client, error) {
	config, err := p.flags.etcdTLS()
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config}, Timeout: 5 * time.Second}, nil
}

// maxAddressBytes is the maximum size of an address document.
const maxAddressBytes = 64 << 10

// readAddress gets the address for kube-apiserver from an etcd process.
func readAddress(ctx context.Context, client *http.Client, server string) (address controlplane.Address, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+controlplane.Path, nil)
	if err != nil {
		return address, fmt.Errorf("etcd server %s: %w", server, err)
	}
	answer, err := client.Do(request)
	if err != nil {
		return address, fmt.Errorf("etcd server %s: %w", server, err)
	}
	defer func() { _ = answer.Body.Close() }()
	err = json.NewDecoder(io.LimitReader(answer.Body, maxAddressBytes)).Decode(&address)
	switch {
	case answer.StatusCode != http.StatusOK || err != nil || address.Socket == "":
		return address, fmt.Errorf("etcd server %s: %w", server, errNoEtcd)
	case address.Protocol != controlplane.Protocol:
		return address, fmt.Errorf("etcd server %s: it is of another version of fakeapi: %w", server, errNoEtcd)
	}
	return address, nil
}
