package load

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
)

// pageSize is the page size of client-go's pager and kubectl.
const pageSize = 500

// list measures listing all objects in one response.
func (s *session) list(ctx context.Context) error {
	return s.measure(ctx, s.newReadJob("list", s.maps))
}

func (s *session) newReadJob(name, path string) job {
	return job{name: name, clients: 1, request: func(ctx context.Context, c *client, _, _, _ int) error {
		return c.do(ctx, http.MethodGet, path, "", nil)
	}}
}

// pages measures the first page, and then a page from the middle.
func (s *session) pages(ctx context.Context) error {
	page := s.maps + "?limit=" + strconv.Itoa(pageSize)
	if err := s.measure(ctx, s.newReadJob("page of 500", page)); err != nil {
		return err
	}
	middle := s.config.Objects / 2 / pageSize
	if middle < 1 {
		s.note("a page from the middle requires %d objects", 2*pageSize)
		return nil
	}
	next := ""
	for range middle {
		answer, err := s.clients[0].read(ctx, http.MethodGet, page+"&continue="+url.QueryEscape(next), "", nil)
		if err != nil {
			return err
		}
		var list struct{ Metadata struct{ Continue string } }
		if err := json.Unmarshal(answer, &list); err != nil {
			return err
		}
		if next = list.Metadata.Continue; next == "" {
			return errors.New("the list ended before its middle: objects were removed by others, or the server ignores limit")
		}
	}
	return s.measure(ctx, s.newReadJob("page in the middle", page+"&continue="+url.QueryEscape(next)))
}
