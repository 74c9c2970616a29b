package load

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// session is the state of a run.
type session struct {
	config    Config
	clients   []*client
	watchers  *client
	namespace string // the path of the namespace
	maps      string // the path of its ConfigMaps
	// changes numbers the writes, so that each one changes the object.
	changes atomic.Int64
	report  *Report
}

// Run measures a server. It returns an error if the Config is invalid, if the server does not
// respond, if the objects cannot be created or removed, or if ctx ends; the report then has the
// figures measured so far. Requests that fail during a measurement are not an error, but are
// counted by Report.Failed.
func Run(ctx context.Context, config Config) (report *Report, err error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	s, err := newSession(config)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if s.report.Version, err = s.version(ctx); err != nil {
		return nil, err
	}
	// The namespace may exist from here on, even if the request to create it fails.
	defer func() { err = errors.Join(err, s.clear(ctx)) }()
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"labels":{"app":%q}}}`, s.report.Namespace, userAgent)
	if err := s.clients[0].do(ctx, http.MethodPost, "/api/v1/namespaces", jsonMedia, []byte(body)); err != nil {
		return s.report, err
	}
	for _, phase := range []func(context.Context) error{
		s.fill, s.get, s.write, s.list, s.pages, s.watchList, s.fanOut, s.events, s.delete, s.measureResources,
	} {
		if err := phase(ctx); err != nil {
			return s.report, err
		}
	}
	return s.report, nil
}

func newSession(config Config) (*session, error) {
	name := config.Namespace + "-" + strings.ToLower(rand.Text()[:10])
	s := &session{config: config, namespace: "/api/v1/namespaces/" + name, report: &Report{Server: config.BaseURL, Namespace: name}}
	s.maps = s.namespace + "/configmaps"
	for range config.Clients {
		c, err := newClient(config)
		if err != nil {
			return nil, err
		}
		s.clients = append(s.clients, c)
	}
	var err error
	s.watchers, err = newClient(config)
	return s, err
}

func (s *session) close() {
	for _, c := range append(s.clients, s.watchers) {
		c.close()
	}
}

func (s *session) progress(format string, args ...any) {
	if s.config.Progress != nil {
		s.config.Progress(fmt.Sprintf(format, args...))
	}
}

func (s *session) note(format string, args ...any) {
	s.report.Notes = append(s.report.Notes, fmt.Sprintf(format, args...))
}

// version returns the version of the server.
func (s *session) version(ctx context.Context) (string, error) {
	answer, err := s.clients[0].read(ctx, http.MethodGet, "/version", "", nil)
	if err != nil {
		return "", err
	}
	var version struct{ GitVersion string }
	if err := json.Unmarshal(answer, &version); err != nil {
		return "", fmt.Errorf("the answer to GET /version: %w", err)
	}
	return version.GitVersion, nil
}

// clear removes everything that was created, even if ctx is done.
func (s *session) clear(ctx context.Context) error {
	s.progress("removing namespace %s", s.report.Namespace)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	c := s.clients[0]
	left := fmt.Errorf("namespace %s is not removed", s.report.Namespace)
	collections := []string{s.maps}
	for _, r := range s.chosenResources() {
		collections = append(collections, s.collection(r))
	}
	for _, path := range slices.Compact(collections) { // ConfigMaps are first
		if err := s.deleteCollection(ctx, path); err != nil {
			return errors.Join(left, err)
		}
	}
	if err := s.removeDefinition(ctx); err != nil {
		return errors.Join(left, err)
	}
	if err := c.do(ctx, http.MethodDelete, s.namespace, "", nil); err != nil && !hasStatus(err, http.StatusNotFound) {
		return errors.Join(left, err)
	}
	for range 60 { // a namespace controller lets a namespace be for 5 seconds
		if hasStatus(c.do(ctx, http.MethodGet, s.namespace, "", nil), http.StatusNotFound) {
			return nil
		}
		if !sleep(ctx, 250*time.Millisecond) {
			break
		}
	}
	s.note("namespace %s is empty and deleted, but the server has not ended it yet", s.report.Namespace)
	return nil
}

// deleteCollection deletes all objects of a collection. Deleting many objects may exceed a real
// server's request timeout, so the request is repeated.
func (s *session) deleteCollection(ctx context.Context, path string) error {
	for {
		err := s.clients[0].do(ctx, http.MethodDelete, path, "", nil)
		if err == nil || hasStatus(err, http.StatusNotFound) {
			return nil
		}
		if refused := new(responseError); !errors.As(err, &refused) || refused.code < http.StatusInternalServerError || !sleep(ctx, time.Second) {
			return err
		}
	}
}

// hasStatus reports whether err is a response with a status code.
func hasStatus(err error, code int) bool {
	refused := new(responseError)
	return errors.As(err, &refused) && refused.code == code
}

// sleep waits for d and reports whether ctx is not done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
