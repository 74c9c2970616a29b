package load

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// session is one run.
type session struct {
	config    Config
	clients   []*client
	watchers  *client
	namespace string // its path
	maps      string // the path of its ConfigMaps
	// changes numbers the writes that change something, so that each one does.
	changes atomic.Int64
	report  *Report
}

// Run measures a server. What was measured until an error is reported beside it. It is
// an error if the Config is not valid, the server does not answer or does not let the
// objects be made or removed, or ctx ends; that single requests fail is not, but
// Report.Failed says so.
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
	// From here on there may be something to remove, even if no answer says so.
	defer func() { err = errors.Join(err, s.clear(ctx)) }()
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"labels":{"app":%q}}}`, s.report.Namespace, userAgent)
	if err := s.clients[0].do(ctx, http.MethodPost, "/api/v1/namespaces", jsonMedia, []byte(body)); err != nil {
		return s.report, err
	}
	for _, phase := range []func(context.Context) error{
		s.fill, s.get, s.write, s.list, s.pages, s.watchList, s.fanOut, s.delete,
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

func (s *session) tell(format string, args ...any) {
	if s.config.Tell != nil {
		s.config.Tell(fmt.Sprintf(format, args...))
	}
}

func (s *session) note(format string, args ...any) {
	s.report.Notes = append(s.report.Notes, fmt.Sprintf(format, args...))
}

// version asks which release the server is, and thereby whether it answers.
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

// clear removes all that was made, also when ctx has ended.
func (s *session) clear(ctx context.Context) error {
	s.tell("removing namespace %s", s.report.Namespace)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	c := s.clients[0]
	// By parts: to delete many at once may take a real server longer than a request may.
	left := fmt.Errorf("namespace %s is not removed", s.report.Namespace)
	for err := c.do(ctx, http.MethodDelete, s.maps, "", nil); err != nil; err = c.do(ctx, http.MethodDelete, s.maps, "", nil) {
		if refused := new(refusal); !errors.As(err, &refused) || refused.code < http.StatusInternalServerError || !sleep(ctx, time.Second) {
			return errors.Join(left, err)
		}
	}
	if err := c.do(ctx, http.MethodDelete, s.namespace, "", nil); err != nil && !notFound(err) {
		return errors.Join(left, err)
	}
	for range 20 {
		if notFound(c.do(ctx, http.MethodGet, s.namespace, "", nil)) {
			return nil
		}
		if !sleep(ctx, 250*time.Millisecond) {
			break
		}
	}
	s.note("namespace %s is empty and deleted, but the server has not ended it yet", s.report.Namespace)
	return nil
}

func notFound(err error) bool {
	refused := new(refusal)
	return errors.As(err, &refused) && refused.code == http.StatusNotFound
}

// sleep waits, and reports whether ctx has let it.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
