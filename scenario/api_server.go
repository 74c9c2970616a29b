package scenario

import (
	"slices"

	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// apiServer is an API server of a run: the first one or a replica.
type apiServer struct {
	name    string
	server  *fakeapi.Server
	replica *fakeapi.Replica  // nil for the first server
	dynamic dynamic.Interface // the client of the steps
}

// mainServer is the name of the first server in steps.
const mainServer = "main"

// label returns the name in the transcript, which is "" for the first server.
func (s *apiServer) label() string {
	if s.replica == nil {
		return ""
	}
	return s.name
}

// addServer adds a server and creates the client of the steps.
func (e *Env) addServer(s *apiServer) error {
	err := e.withServer(s, func() (err error) {
		s.dynamic, err = e.dynamicClient(stepUserAgent)
		return err
	})
	if err == nil {
		e.servers = append(e.servers, s)
	}
	return err
}

// withServer calls do with s as the current server.
func (e *Env) withServer(s *apiServer, do func() error) error {
	previous := e.current
	e.current = s
	defer func() { e.current = previous }()
	return do()
}

// findServer returns the server with a name.
func (e *Env) findServer(name string) (*apiServer, error) {
	if i := slices.IndexFunc(e.servers, func(d *apiServer) bool { return d.name == name }); i >= 0 {
		return e.servers[i], nil
	}
	return nil, mismatch{"a replica " + quote(name), listOrNone(e.serverNames())}
}

func (e *Env) serverNames() []string {
	var names []string
	for _, s := range e.servers {
		names = append(names, s.name)
	}
	return names
}
