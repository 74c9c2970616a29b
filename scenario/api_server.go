package scenario

import (
	"slices"

	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// apiServer is one API server of a run: the first, or a replica of it.
type apiServer struct {
	name    string
	server  *fakeapi.Server
	replica *fakeapi.Replica  // nil for the first
	dynamic dynamic.Interface // how steps reach it
}

// mainServer is what steps call the first server of a run.
const mainServer = "main"

// label is what lines of the transcript call it: "" for the first.
func (d *apiServer) label() string {
	if d.replica == nil {
		return ""
	}
	return d.name
}

// addServer makes a server known, and connects the steps to it.
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

// withServer has the steps go through a door while do runs.
func (e *Env) withServer(d *apiServer, do func() error) error {
	before := e.current
	e.current = d
	defer func() { e.current = before }()
	return do()
}

// findServer finds one by its name.
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
