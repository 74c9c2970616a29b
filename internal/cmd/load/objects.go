package load

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// name returns the name of the n-th object, from 1.
func name(n int) string { return fmt.Sprintf("m%07d", n) }

// object returns a ConfigMap of about a KiB as stored, including its managedFields.
func object(name string, change int64) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"app":%q}},"data":{"k":%q,"n":"%d"}}`,
		name, userAgent, strings.Repeat("v", 600), change)
}

// objectName returns the path of the object for a client's next write. Clients do not share
// objects.
func (s *session) objectName(clients, who, turn int) string {
	return s.maps + "/" + name(1+who+clients*(turn%(s.config.Objects/clients)))
}

// fill creates the objects.
func (s *session) fill(ctx context.Context) error {
	s.memory(ctx, "empty")
	create := func(ctx context.Context, c *client, _, _, n int) error {
		return c.do(ctx, http.MethodPost, s.maps, jsonMedia, object(name(n), 0))
	}
	alone := max(s.config.Objects/10, 1)
	for _, part := range []job{
		{name: "create", clients: 1, first: 1, last: alone, request: create},
		{name: "create", clients: s.config.Clients, first: alone + 1, last: s.config.Objects, request: create},
	} {
		if part.first > part.last {
			continue
		}
		if err := s.measure(ctx, part); err != nil {
			return err
		}
	}
	// The other measurements need all objects.
	if failed, first := s.report.Failed(); failed > 0 {
		return fmt.Errorf("objects could not be created, %d requests failed, the first: %s", failed, first)
	}
	s.report.Objects = s.config.Objects
	s.memory(ctx, "with the objects")
	return nil
}

// get reads the objects in turn.
func (s *session) get(ctx context.Context) error {
	return s.byOneAndAll(ctx, "get", func(ctx context.Context, c *client, path string) error {
		return c.do(ctx, http.MethodGet, path, "", nil)
	})
}

// write changes the objects in turn by update, patch and apply.
func (s *session) write(ctx context.Context) error {
	for _, way := range []struct {
		name, method, media, query string
		body                       func(name string, change int64) []byte
	}{
		{"update", http.MethodPut, jsonMedia, "", object},
		{"patch", http.MethodPatch, mergeMedia, "", func(_ string, change int64) []byte {
			return fmt.Appendf(nil, `{"data":{"n":"%d"}}`, change)
		}},
		{"apply", http.MethodPatch, applyMedia, "?fieldManager=" + userAgent + "-apply&force=true", func(name string, change int64) []byte {
			return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"n":"%d"}}`, name, change)
		}},
	} {
		if err := s.byOneAndAll(ctx, way.name, func(ctx context.Context, c *client, path string) error {
			body := way.body(path[strings.LastIndexByte(path, '/')+1:], s.changes.Add(1))
			return c.do(ctx, way.method, path+way.query, way.media, body)
		}); err != nil {
			return err
		}
	}
	return nil
}

// byOneAndAll measures requests for single objects, by one client and by all.
func (s *session) byOneAndAll(ctx context.Context, name string, do func(ctx context.Context, c *client, path string) error) error {
	for _, clients := range s.clientCounts() {
		if err := s.measure(ctx, job{name: name, clients: clients, request: func(ctx context.Context, c *client, who, turn, _ int) error {
			return do(ctx, c, s.objectName(clients, who, turn))
		}}); err != nil {
			return err
		}
	}
	return nil
}

// clientCounts returns the numbers of clients to measure with.
func (s *session) clientCounts() []int {
	if s.config.Clients == 1 {
		return []int{1}
	}
	return []int{1, s.config.Clients}
}

// delete deletes the objects in turn; clear deletes the remaining ones.
func (s *session) delete(ctx context.Context) error {
	s.memory(ctx, "in the end")
	return s.measure(ctx, job{name: "delete", clients: s.config.Clients, first: 1, last: s.config.Objects, timed: true,
		request: func(ctx context.Context, c *client, _, _, n int) error {
			return c.do(ctx, http.MethodDelete, s.maps+"/"+name(n), "", nil)
		}})
}
