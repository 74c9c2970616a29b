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
func (d *apiServer) label() string {
	if d.replica == nil {
		return ""
	}
	return d.name
}

// addServer adds a server and creates the client of the steps.
func (e *Env) addServer(d *apiServer) error {
	err := e.withServer(d, func() (err error) {
		d.dynamic, err = e.dynamicClient(stepUserAgent)
		return err
	})
	if err == nil {
		e.servers = append(e.servers, d)
	}
	return err
}

// withServer calls do with server d as the current one.
func (e *Env) withServer(d *apiServer, do func() error) error {
	before := e.current
	e.current = d
	defer func() { e.current = before }()
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
	for _, d := range e.servers {
		names = append(names, d.name)
	}
	return names
}
