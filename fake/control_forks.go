package fakeapi

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// forks has the open forks of the control API by name.
type forks struct {
	mu   sync.Mutex
	open map[string]*Server
}

// groupResource is the resource in errors.
func (*forks) groupResource() schema.GroupResource { return schema.GroupResource{Resource: "forks"} }

// forkJSON is the JSON form of a fork.
type forkJSON struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// String returns the fork in one line.
func (f forkJSON) String() string { return f.Name + " at " + f.URL }

func (f *forks) list() (list []forkJSON) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.open)) {
		list = append(list, forkJSON{name, f.open[name].URL()})
	}
	return list
}

// add creates a fork under a name that is not in use.
func (f *forks) add(name string, fork func() (*Server, error)) (*Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[name] != nil {
		return nil, apierrors.NewAlreadyExists(f.groupResource(), name)
	}
	server, err := fork()
	if err != nil {
		return nil, err
	}
	if f.open == nil {
		f.open = make(map[string]*Server)
	}
	f.open[name] = server
	return server, nil
}

// remove removes a fork from the list. The caller closes it.
func (f *forks) remove(name string) (*Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	server := f.open[name]
	if server == nil {
		return nil, apierrors.NewNotFound(f.groupResource(), name)
	}
	delete(f.open, name)
	return server, nil
}

func (c *controlAPI) listForks(w http.ResponseWriter, r *http.Request) error {
	return writeList(w, r, http.StatusOK, "forks", c.forks.list())
}

// addFork starts a fork on a free port, with the options of its server and, with TLS, the same
// authority. It is closed with its server, or before.
func (c *controlAPI) addFork(w http.ResponseWriter, r *http.Request) error {
	if c.server.opts.inMemory {
		return apierrors.NewBadRequest("a server in memory has no address for a fork; use Server.Fork in Go")
	}
	name := r.PathValue("name")
	fork, err := c.forks.add(name, func() (*Server, error) {
		o := *c.server.opts
		o.address, o.listener, o.storageOf, o.fixtures, o.crds, o.rules = "127.0.0.1:0", nil, nil, nil, nil, nil
		fork, err := c.server.fork(&o, c.server.authority)
		if err != nil {
			return nil, err
		}
		return fork, c.server.closeWith(fork)
	})
	if err != nil {
		return err
	}
	return writeList(w, r, http.StatusCreated, "forks", []forkJSON{{name, fork.URL()}})
}

func (c *controlAPI) closeFork(w http.ResponseWriter, r *http.Request) error {
	fork, err := c.forks.remove(r.PathValue("name"))
	if err != nil {
		return err
	}
	if err := fork.Close(); err != nil {
		return err
	}
	return writeNoContent(w)
}
