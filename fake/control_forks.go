package fakeapi

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// forks has the open forks of the control API by name.
type forks struct {
	mu   sync.Mutex // guards open
	open map[string]*Server
}

// groupResource is the resource in errors.
func (*forks) groupResource() schema.GroupResource { return schema.GroupResource{Resource: "forks"} }

// forkJSON is the JSON form of a fork.
type forkJSON struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// ControlURL is the URL of the control API of the fork.
	ControlURL string `json:"controlURL"`
	// Kubeconfig is only there for a single fork.
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

func toForkJSON(name string, fork *Server) forkJSON {
	return forkJSON{Name: name, URL: fork.URL(), ControlURL: fork.ControlURL()}
}

// String returns the fork in one line.
func (f forkJSON) String() string { return f.Name + " at " + f.URL }

func (f *forks) list() (list []forkJSON) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.open)) {
		list = append(list, toForkJSON(name, f.open[name]))
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
	if len(f.open) >= maxForks {
		return nil, limitError(maxForks, "open forks")
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

func (f *forks) get(name string) (*Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.find(name)
}

// remove removes a fork from the list. The caller closes it.
func (f *forks) remove(name string) (*Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	server, err := f.find(name)
	delete(f.open, name)
	return server, err
}

// find returns a fork. The caller holds mu.
func (f *forks) find(name string) (*Server, error) {
	server := f.open[name]
	if server == nil {
		return nil, apierrors.NewNotFound(f.groupResource(), name)
	}
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
	name, err := pathName(r)
	if err != nil {
		return err
	}
	fork, err := c.forks.add(name, func() (*Server, error) {
		fork, err := c.server.fork(c.server.opts.forControlFork(), c.server.authority)
		if err != nil {
			return nil, err
		}
		return fork, c.server.closeWith(fork)
	})
	if err != nil {
		return err
	}
	c.server.note("Fork %s at %s", name, fork.URL())
	return c.writeFork(w, r, http.StatusCreated, name, fork)
}

// forControlFork returns the options of a fork of the control API: those of the server, but for its
// addresses, its fixtures, which the fork has already, and its audit log. The rules are those of
// WithFaults.
func (o *options) forControlFork() *options {
	fork := *o
	fork.address, fork.listener, fork.storageOf, fork.fixtures, fork.crds = anyPort, nil, nil, nil, nil
	fork.audit = nil
	if o.controlAddress != "" {
		fork.controlAddress = anyPort
	}
	return &fork
}

// writeFork responds with a fork, for clients that accept JSON with its kubeconfig.
func (c *controlAPI) writeFork(w http.ResponseWriter, r *http.Request, code int, name string, fork *Server) error {
	object := toForkJSON(name, fork)
	if !acceptsJSON(r) {
		return sendText(w, code, "text/plain; charset=utf-8", object.String()+"\n")
	}
	kubeconfig, err := fork.Kubeconfig()
	if err != nil {
		return err
	}
	object.Kubeconfig = string(kubeconfig)
	return sendJSON(w, code, object)
}

func (c *controlAPI) getFork(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	fork, err := c.forks.get(name)
	if err != nil {
		return err
	}
	return c.writeFork(w, r, http.StatusOK, name, fork)
}

func (c *controlAPI) getForkKubeconfig(w http.ResponseWriter, r *http.Request) error {
	fork, err := c.forks.get(r.PathValue("name"))
	if err != nil {
		return err
	}
	return writeKubeconfig(w, fork)
}

// getKubeconfig responds with Server.Kubeconfig.
func (c *controlAPI) getKubeconfig(w http.ResponseWriter, _ *http.Request) error {
	if c.server.opts.inMemory {
		return apierrors.NewBadRequest("a server in memory has no address for a kubeconfig; use Server.RESTConfig in Go")
	}
	return writeKubeconfig(w, c.server)
}

func writeKubeconfig(w http.ResponseWriter, s *Server) error {
	file, err := s.Kubeconfig()
	if err != nil {
		return err
	}
	return sendText(w, http.StatusOK, runtime.ContentTypeYAML, string(file))
}

func (c *controlAPI) closeFork(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	fork, err := c.forks.remove(name)
	if err != nil {
		return err
	}
	c.server.note("close fork %s", name)
	c.server.forget(fork)
	if err := fork.Close(); err != nil {
		return err
	}
	return writeNoContent(w)
}
