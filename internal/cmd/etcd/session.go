//go:build unix

package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// session is a connection of a kube-apiserver process.
type session struct {
	servers *apiServers
	conn    *controlplane.Conn
	done    chan struct{} // is closed when its API server is closed
}

// run serves the connection until it ends. Then the API server is closed, and the files of the
// kube-apiserver process are.
func (s *session) run() (err error) {
	defer func() { err = errors.Join(err, controlplane.IgnoreClosed(s.conn.Close())) }()
	files, err := s.conn.ReceiveFiles()
	if err != nil {
		return ignoreEnd(err)
	}
	defer func() { err = errors.Join(err, controlplane.CloseAll(files...)) }()
	var request controlplane.Request
	if err := s.conn.Receive(&request); err != nil {
		return ignoreEnd(err)
	}
	switch {
	case request.Method == controlplane.AwaitEnded:
		s.servers.awaitEnded()
		return ignoreEnd(s.conn.Send(controlplane.Response{}))
	case request.Method == controlplane.Serve && len(files) == controlplane.ServeFiles:
		return s.serve(request, files)
	}
	return fmt.Errorf("the method %q with %d files is unknown", request.Method, len(files))
}

// serve starts an API server, and closes it when the connection ends or at a request.
func (s *session) serve(request controlplane.Request, files []*os.File) (err error) {
	server, err := s.servers.create(request, files)
	if err != nil {
		return ignoreEnd(s.conn.Send(controlplane.Response{Error: err.Error()}))
	}
	requests := s.receive()
	if err := s.conn.Send(controlplane.Response{Notes: server.notes}); err != nil {
		return errors.Join(ignoreEnd(err), server.close())
	}
	if request, ok := <-requests; !ok || request.Method != controlplane.Shutdown {
		return server.close()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shutdown := make(chan error, 1)
	go func() { shutdown <- server.shutdown(ctx) }()
	select {
	case err = <-shutdown:
		err = errors.Join(err, server.close())
	case <-requests: // the process has ended
		cancel()
		err = errors.Join(server.close(), <-shutdown)
	}
	// The files are closed before the process ends: its parent may wait for the end of its output.
	response := controlplane.Response{}
	if err = errors.Join(err, controlplane.CloseAll(files...)); err != nil {
		response.Error = err.Error()
	}
	return errors.Join(err, ignoreEnd(s.conn.Send(response)))
}

// receive returns a channel of the requests, which is closed when the connection ends.
func (s *session) receive() <-chan controlplane.Request {
	requests := make(chan controlplane.Request, 1)
	go func() {
		defer close(requests)
		for {
			var request controlplane.Request
			if s.conn.Receive(&request) != nil {
				return
			}
			requests <- request
		}
	}()
	return requests
}

// ignoreEnd returns err, or nil if it is the end of the connection or of the other process.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return controlplane.IgnoreClosed(err)
}
