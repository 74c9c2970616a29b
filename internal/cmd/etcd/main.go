//go:build unix

package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"k8s.io/klog/v2"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// Main runs the process etcd with the arguments after its name, and returns its exit status. It
// returns when ctx ends, or with an error when the parent of the process ends.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	parentEnded := controlplane.ParentEnded()
	flags, err := Parse(args)
	if err != nil {
		return reportUsage(err, stdout, stderr)
	}
	log := controlplane.NewLogger(stderr)
	for _, note := range flags.Notes() {
		log.Info(note)
	}
	p, err := start(flags, log)
	if err != nil {
		log.Error(err, "failed to start etcd")
		return 1
	}
	status := 0
	select {
	case <-ctx.Done():
		log.Info("Received a signal, shutting down")
	case <-parentEnded:
		log.Info("The parent process has ended, shutting down")
		status = 1
	}
	if err := p.close(); err != nil {
		log.Error(err, "failed to shut down")
		status = 1
	}
	return status
}

// process is a running etcd process.
type process struct {
	log     klog.Logger
	clients *http.Server
	peers   []net.Listener
	socket  *controlplane.Listener
	servers *apiServers
}

// start listens on all addresses and serves them.
func start(flags *Flags, log klog.Logger) (_ *process, err error) {
	p := &process{log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.closeListeners())
		}
	}()
	if p.socket, err = controlplane.Listen(); err != nil {
		return nil, err
	}
	if err := p.listenForPeers(flags); err != nil {
		return nil, err
	}
	if p.clients, err = newClientServer(flags, p.socket.Address()); err != nil {
		return nil, err
	}
	listeners, err := listenForClients(flags, log)
	if err != nil {
		return nil, err
	}
	p.servers = newAPIServers(flags.Options(), log)
	serve(p.clients, listeners)
	go p.servers.acceptFrom(p.socket)
	return p, nil
}

// closeListeners closes the socket and the peer addresses.
func (p *process) closeListeners() (err error) {
	if p.socket != nil {
		err = p.socket.Close()
	}
	for _, l := range p.peers {
		err = errors.Join(err, l.Close())
	}
	return err
}

// close ends the API servers and stops listening.
func (p *process) close() error {
	err := errors.Join(p.closeListeners(), p.clients.Close())
	if serversErr := p.servers.close(); serversErr != nil {
		err = errors.Join(err, fmt.Errorf("ending API servers: %w", serversErr))
	}
	return err
}
