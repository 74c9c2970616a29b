//go:build unix

package etcd

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"

	"k8s.io/klog/v2"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/controlplane"
)

// apiServers are the API servers of the kube-apiserver processes that are connected.
type apiServers struct {
	log     klog.Logger
	options []fakeapi.Option // of the flags of etcd

	starting sync.Mutex // is held while a server is created, whose storage the next one continues

	mu       sync.Mutex // guards the fields below
	closed   bool
	sessions []*session
	latest   *fakeapi.Server // has the objects; nil before the first start
}

func newAPIServers(options []fakeapi.Option, log klog.Logger) *apiServers {
	return &apiServers{log: log, options: options}
}

// acceptFrom serves the connections of l until it is closed.
func (a *apiServers) acceptFrom(l *controlplane.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		s := &session{servers: a, conn: conn, done: make(chan struct{})}
		if !a.add(s) {
			_ = conn.Close()
			return
		}
		go func() {
			defer close(s.done)
			defer a.remove(s)
			if err := s.run(); err != nil {
				a.log.Error(err, "a connection of kube-apiserver failed")
			}
		}()
	}
}

// add adds a session. It returns false after close.
func (a *apiServers) add(s *session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.sessions = append(a.sessions, s)
	}
	return !a.closed
}

func (a *apiServers) remove(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions = slices.DeleteFunc(a.sessions, func(other *session) bool { return other == s })
}

// all returns the sessions at this moment.
func (a *apiServers) all() []*session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.sessions)
}

// close ends all API servers and waits for it.
func (a *apiServers) close() (err error) {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	for _, s := range a.all() {
		err = errors.Join(err, controlplane.IgnoreClosed(s.conn.Close())) // the session may end at the same time
	}
	for _, s := range a.all() {
		<-s.done
	}
	return err
}

// awaitEnded waits until the API servers of processes that have ended are closed.
func (a *apiServers) awaitEnded() {
	for _, s := range a.all() {
		if s.conn.HasEnded() {
			<-s.done
		}
	}
}

// create starts an API server with the objects of the latest one.
func (a *apiServers) create(request controlplane.Request, files []*os.File) (*apiServer, error) {
	l, err := net.FileListener(files[0])
	if err != nil {
		return nil, err
	}
	a.starting.Lock()
	defer a.starting.Unlock()
	a.mu.Lock()
	opts := append(slices.Clone(a.options), fakeapi.WithListener(l))
	if a.latest != nil {
		opts = append(opts, fakeapi.WithStorageOf(a.latest))
	}
	a.mu.Unlock()
	server, err := newAPIServer(request, files[1], files[2], opts)
	if err != nil {
		return nil, errors.Join(err, controlplane.IgnoreClosed(l.Close()))
	}
	a.mu.Lock()
	a.latest = server.server
	a.mu.Unlock()
	return server, nil
}
