package fakeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/status"
)

// controlPrefix is the path of the control API. controlRoutes has its requests.
const controlPrefix = "/fakeapi/v1/"

// controlAPI serves the control API of a server.
type controlAPI struct {
	server     *Server
	handler    http.Handler
	testFaults testFaults
	snapshots  snapshots
	forks      forks
	waits      waits
}

// newControlAPI returns the control API, or nil if no option enables it.
func (s *Server) newControlAPI() *controlAPI {
	if !s.opts.controlAPI && s.opts.controlAddress == "" {
		return nil
	}
	c := &controlAPI{server: s}
	c.handler = c.newHandler()
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

// newHandler returns the handler of all paths and methods.
func (c *controlAPI) newHandler() http.Handler {
	mux, paths := http.NewServeMux(), http.NewServeMux()
	known := map[string]bool{}
	for _, route := range controlRoutes() {
		if !known[route.path] {
			known[route.path] = true
			paths.Handle(controlRoute{path: route.path}.pattern(), http.NotFoundHandler())
		}
		mux.HandleFunc(route.method+" "+route.pattern(), func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Cache-Control"] = noCache
			w.Header().Set("X-Content-Type-Options", "nosniff")
			setNext(w, c.server.recorder.Order())
			err := route.checkParameters(r)
			if err == nil {
				err = route.do(c, w, r)
			}
			if err != nil {
				handlers.WriteError(w, r, err)
			}
		})
	}
	mux.HandleFunc(strings.TrimSuffix(controlPrefix, "/"), func(w http.ResponseWriter, r *http.Request) {
		index := r.Clone(r.Context())
		index.URL.Path = controlPrefix
		mux.ServeHTTP(w, index)
	})
	mux.HandleFunc(controlPrefix, func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := paths.Handler(r); pattern != "" {
			handlers.WriteError(w, r, status.MethodNotAllowed())
			return
		}
		handlers.WriteError(w, r, status.PathNotFound())
	})
	return mux
}

// controlFunc handles a request, or returns the error to respond with.
type controlFunc func(c *controlAPI, w http.ResponseWriter, r *http.Request) error

// action returns a controlFunc for f with an empty response.
func action(f func(*Server)) controlFunc {
	return func(c *controlAPI, w http.ResponseWriter, _ *http.Request) error {
		f(c.server)
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

// addNote adds the body to the timeline as a note.
func (c *controlAPI) addNote(w http.ResponseWriter, r *http.Request) error {
	text, err := readControlBody(w, r)
	if err != nil {
		return err
	}
	if text = strings.TrimSpace(text); text == "" {
		return apierrors.NewBadRequest("the body has no text")
	}
	c.server.AddNote(Note{Source: "test", Text: text})
	return writeNoContent(w)
}

// nextHeader is the header with the order of what happened last, for the parameter since of later
// requests.
const nextHeader = "Fakeapi-Next"

func setNext(w http.ResponseWriter, order uint64) {
	w.Header().Set(nextHeader, strconv.FormatUint(order, 10))
}

// acceptsJSON reports whether a client accepts JSON.
func acceptsJSON(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeJSON)
}

// writeList writes a list: a line for each item, or for clients that accept JSON an object with the
// list under a name, and with other fields, which are names and values in turn.
func writeList[T fmt.Stringer](w http.ResponseWriter, r *http.Request, code int, name string, list []T, fields ...any) error {
	if !acceptsJSON(r) {
		var lines strings.Builder
		for _, item := range list {
			lines.WriteString(item.String() + "\n")
		}
		return sendText(w, code, "text/plain; charset=utf-8", lines.String())
	}
	if list == nil {
		list = []T{}
	}
	object := map[string]any{name: list}
	for i := 0; i < len(fields); i += 2 {
		object[fields[i].(string)] = fields[i+1]
	}
	return sendJSON(w, code, object)
}

func sendJSON(w http.ResponseWriter, code int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return sendText(w, code, runtime.ContentTypeJSON, string(body)+"\n")
}

func sendText(w http.ResponseWriter, code int, contentType, body string) error {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body) // ignore errors of a closed connection
	return nil
}

// The limits of what requests of the control API add to a server.
const (
	// maxControlBody is the largest body in bytes.
	maxControlBody = 1 << 20
	// maxControlName is the longest name in bytes, of a snapshot, a fork or a test.
	maxControlName = 253
	// maxRules, maxSnapshots and maxForks are the largest numbers of fault rules, snapshots and open
	// forks.
	maxRules, maxSnapshots, maxForks = 1000, 1000, 100
	// maxTestFaults is how often rules can be added with the parameter test until those of a test are
	// removed.
	maxTestFaults = 10_000
)

// limitError is the error of a request that would exceed a limit.
func limitError(limit int, what string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the server has at most %d %s; remove some", limit, what))
}

// pathName returns the name in the path.
func pathName(r *http.Request) (string, error) {
	name := r.PathValue("name")
	if len(name) > maxControlName {
		return "", apierrors.NewBadRequest(fmt.Sprintf("a name has at most %d bytes", maxControlName))
	}
	return name, nil
}

func readControlBody(w http.ResponseWriter, r *http.Request) (string, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return "", status.TooLarge(maxControlBody)
	} else if err != nil {
		return "", apierrors.NewBadRequest(err.Error())
	}
	return string(body), nil
}
