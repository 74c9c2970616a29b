//go:build unix

package etcd

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/controlplane"
	"example.com/fakeapi/internal/cmd/environment"
	"example.com/fakeapi/internal/cmd/kubeapiserver"
)

// apiServer is the API server of a kube-apiserver process.
type apiServer struct {
	server      *fakeapi.Server
	flags       *kubeapiserver.Flags
	environment environment.Environment
	// notes are lines for the log of kube-apiserver.
	notes []string
}

// newAPIServer starts an API server with the options that follow from a request, and further ones,
// which take precedence. It writes to stdout and stderr.
func newAPIServer(request controlplane.Request, stdout, stderr io.Writer, further []fakeapi.Option) (_ *apiServer, err error) {
	flags, err := kubeapiserver.Parse(request.Arguments)
	if err != nil {
		return nil, err
	}
	flags.Stdout = stdout
	defer func() {
		if err != nil {
			err = errors.Join(err, flags.Close())
		}
	}()
	opts, notes, err := flags.Options(request.Directory)
	if err != nil {
		return nil, err
	}
	if flags.Verbosity >= requestVerbosity {
		opts = append(opts, fakeapi.WithLogger(controlplane.NewRequestLogger(stderr)))
	}
	env, err := environment.ReadIn(request.Directory, func(name string) string { return request.Environment[name] })
	if err != nil {
		return nil, err
	}
	go fakeapi.Preload()
	server, err := fakeapi.New(slices.Concat(opts, env.Options(), further)...)
	if err != nil {
		return nil, err
	}
	if err := env.Announce(server); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &apiServer{server, flags, env, notes}, nil
}

// requestVerbosity is the level of the log that has each request.
const requestVerbosity = 3

// close closes the server and writes the reports that the environment names.
func (s *apiServer) close() error {
	return errors.Join(s.server.Close(), s.flags.Close(), s.environment.Finish(s.server))
}

// shutdown shuts the server down gracefully after --shutdown-delay-duration, or at once when ctx
// ends.
func (s *apiServer) shutdown(ctx context.Context) error {
	s.server.Drain()
	delay := time.NewTimer(s.flags.ShutdownDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-ctx.Done():
	}
	return s.server.Shutdown()
}
