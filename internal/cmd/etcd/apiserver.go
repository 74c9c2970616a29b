//go:build unix

package etcd

import (
	"errors"
	"slices"

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

// newAPIServer starts an API server with the options that follow from a request, and further ones,
// which take precedence.
func newAPIServer(request controlplane.Request, further []fakeapi.Option) (*apiServer, error) {
	flags, err := kubeapiserver.Parse(request.Arguments)
	if err != nil {
		return nil, err
	}
	opts, notes, err := flags.Options(request.Directory)
	if err != nil {
		return nil, err
	}
	env, err := environment.ReadIn(request.Directory, func(name string) string { return request.Environment[name] })
	if err != nil {
		return nil, err
	}
	server, err := fakeapi.New(slices.Concat(opts, env.Options(), further)...)
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
