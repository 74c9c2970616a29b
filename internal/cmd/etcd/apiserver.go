//go:build unix

package etcd

import (
	"errors"
	"net"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/controlplane"
	"example.com/fakeapi/internal/cmd/environment"
	"example.com/fakeapi/internal/cmd/kubeapiserver"
)

// apiServer is the API server of a kube-apiserver process.
type apiServer struct {
	server      *fakeapi.Server
	environment environment.Environment
	// notes are lines for the log of kube-apiserver.
	notes []string
}

// newAPIServer starts an API server on l, with the objects of latest if it is not nil.
func newAPIServer(request controlplane.Request, l net.Listener, latest *fakeapi.Server) (*apiServer, error) {
	flags, err := kubeapiserver.Parse(request.Arguments)
	if err != nil {
		return nil, err
	}
	opts, notes, err := flags.Options(request.Directory)
	if err != nil {
		return nil, err
	}
	env, err := environment.Read(func(name string) string { return request.Environment[name] })
	if err != nil {
		return nil, err
	}
	opts = append(opts, env.Options()...)
	opts = append(opts, fakeapi.WithListener(l))
	if latest != nil {
		opts = append(opts, fakeapi.WithStorageOf(latest))
	}
	server, err := fakeapi.New(opts...)
	if err != nil {
		return nil, err
	}
	if err := env.Announce(server); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &apiServer{server, env, notes}, nil
}

// close closes the server and writes the reports that the environment names.
func (s *apiServer) close() error {
	return errors.Join(s.server.Close(), s.environment.Finish(s.server))
}
