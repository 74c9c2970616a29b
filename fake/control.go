package fakeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/status"
)

// controlPrefix is the path of the control API.
const controlPrefix = "/fakeapi/v1/"

// controlAPI serves the control API of a server.
type controlAPI struct {
	server    *Server
	handler   http.Handler
	snapshots snapshots
	forks     forks
}

// newControlAPI returns the control API, or nil if no option enables it.
func (s *Server) newControlAPI() *controlAPI {
	if !s.opts.controlAPI && s.opts.controlAddress == "" {
		return nil
	}
	c := &controlAPI{server: s}
	c.handler = c.routes()
	return c
}

// isControlPath reports whether a path is one of the control API.
func isControlPath(path string) bool {
	return strings.HasPrefix(path, controlPrefix) || path+"/" == controlPrefix
}

// withControlAPI serves the control API at the address of the server, with WithControlAPI. Fault
// rules do not apply to it.
func (s *Server) withControlAPI(next http.Handler) http.Handler {
	if !s.opts.controlAPI {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isControlPath(r.URL.Path) {
			if s.authenticateControl(w, r) {
				s.control.handler.ServeHTTP(w, r)
			}
			return
		}
		next.ServeHTTP(w, r)
	})
}

// routes returns the handler of all paths and methods.
func (c *controlAPI) routes() http.Handler {
	mux := http.NewServeMux()
	for path, methods := range map[string]map[string]controlFunc{
		"compact":         {http.MethodPost: c.action(c.server.Compact)},
		"forget-history":  {http.MethodPost: c.action(c.server.ForgetHistory)},
		"run-controllers": {http.MethodPost: c.runControllers},

		"faults":        {http.MethodGet: c.listFaults, http.MethodPost: c.addFaults, http.MethodDelete: c.action(c.clearFaults)},
		"faults/{name}": {http.MethodDelete: c.removeFaults},
		"hits":          {http.MethodGet: c.listHits},
		"requests":      {http.MethodGet: c.listRequests},
		"timeline":      {http.MethodGet: c.getTimeline},
		"access":        {http.MethodGet: c.getAccess, http.MethodDelete: c.action(c.server.ResetAccess)},

		"tokens":        {http.MethodPost: c.addToken},
		"tokens/expire": {http.MethodPost: c.expireToken},
		"certificates":  {http.MethodPost: c.issueCertificate},
		"kubeconfigs":   {http.MethodPost: c.issueKubeconfig},

		"snapshots":                {http.MethodGet: c.listSnapshots},
		"snapshots/{name}":         {http.MethodPost: c.createSnapshot, http.MethodDelete: c.deleteSnapshot},
		"snapshots/{name}/restore": {http.MethodPost: c.restoreSnapshot},

		"forks":        {http.MethodGet: c.listForks},
		"forks/{name}": {http.MethodPost: c.addFork, http.MethodDelete: c.closeFork},
	} {
		mux.HandleFunc(controlPrefix+path, func(w http.ResponseWriter, r *http.Request) {
			do, ok := methods[r.Method]
			if !ok {
				handlers.WriteError(w, r, status.MethodNotAllowed())
				return
			}
			if err := do(w, r); err != nil {
				handlers.WriteError(w, r, err)
			}
		})
	}
	mux.HandleFunc(controlPrefix, func(w http.ResponseWriter, r *http.Request) {
		handlers.WriteError(w, r, status.PathNotFound())
	})
	return mux
}

// controlFunc handles a request, or returns the error to respond with.
type controlFunc func(w http.ResponseWriter, r *http.Request) error

// action returns a controlFunc for f with an empty response.
func (c *controlAPI) action(f func()) controlFunc {
	return func(w http.ResponseWriter, _ *http.Request) error {
		f()
		return writeNoContent(w)
	}
}

func writeNoContent(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (c *controlAPI) runControllers(w http.ResponseWriter, r *http.Request) error {
	if err := c.server.RunControllers(r.Context()); err != nil {
		return err
	}
	return writeNoContent(w)
}

// writeList writes a list: a line for each item, or for clients that accept JSON an object with the
// list under a name.
func writeList[T fmt.Stringer](w http.ResponseWriter, r *http.Request, code int, name string, list []T) error {
	if strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeJSON) {
		if list == nil {
			list = []T{}
		}
		body, err := json.Marshal(map[string][]T{name: list})
		if err != nil {
			return err
		}
		return sendText(w, code, runtime.ContentTypeJSON, string(body)+"\n")
	}
	var lines strings.Builder
	for _, item := range list {
		lines.WriteString(item.String() + "\n")
	}
	return sendText(w, code, "text/plain; charset=utf-8", lines.String())
}

func sendText(w http.ResponseWriter, code int, contentType, body string) error {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body) // ignore errors of a closed connection
	return nil
}

// maxControlBody is the largest body in bytes.
const maxControlBody = 1 << 20

func readControlBody(w http.ResponseWriter, r *http.Request) (string, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return "", status.TooLarge(maxControlBody)
	} else if err != nil {
		return "", apierrors.NewBadRequest(err.Error())
	}
	return string(body), nil
}
