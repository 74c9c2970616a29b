package fakeapi

import (
	"fmt"
	"net/http"
	"sync"

	"example.com/fakeapi/internal/requestinfo"
)

// Discovery is what the server tells of its API groups, which can be wrong. Only
// discovery is: objects of the groups are served as ever, and the OpenAPI documents
// and the core group stay as they are. A later call about a group takes the place of an
// earlier one.
type Discovery struct {
	server *Server

	mu     sync.Mutex // guards all below
	groups map[string]view
	asked  uint64 // counts the documents of /apis given
}

// view is what is shown of a group.
type view struct {
	kind viewKind
	// since is what asked was when the group began to flap.
	since uint64
}

type viewKind uint8

const (
	whole viewKind = iota
	hidden
	broken
	stale
	flapping
)

// Discovery is the server's discovery; see its methods for what can be wrong with it.
func (s *Server) Discovery() *Discovery { return s.groups }

// Hide takes groups out of discovery: they are in no list, and their documents are
// 404, as for an API that is not installed. Like the others it refuses a group that the
// server does not have.
func (d *Discovery) Hide(groups ...string) error { return d.set(hidden, groups) }

// Fail makes groups those of an aggregated API that is down: they are listed, the
// document of each version is 503 "service unavailable", and in aggregated discovery
// it is stale and empty.
func (d *Discovery) Fail(groups ...string) error { return d.set(broken, groups) }

// MarkStale makes groups stale in aggregated discovery: of each version there is nothing
// but its name and the freshness Stale. The other documents stay.
func (d *Discovery) MarkStale(groups ...string) error { return d.set(stale, groups) }

// Flap makes groups come and go: they are missing from every other answer of /apis,
// from the next one on, and their own documents are there as they were in the last.
func (d *Discovery) Flap(groups ...string) error { return d.set(flapping, groups) }

// Reset makes discovery right again for these groups, or without any for all.
func (d *Discovery) Reset(groups ...string) error {
	if len(groups) > 0 {
		return d.set(whole, groups)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups = nil
	return nil
}

func (d *Discovery) set(kind viewKind, groups []string) error {
	for _, g := range groups {
		if g == "" || !d.server.types.Table().HasGroup(g) {
			return fmt.Errorf("fakeapi: discovery: %q is no group of /apis", g)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.groups == nil {
		d.groups = make(map[string]view)
	}
	for _, g := range groups {
		d.groups[g] = view{kind: kind, since: d.asked}
	}
	return nil
}

// groupViews is what is shown of the groups in one answer.
type groupViews map[string]viewKind

func (v groupViews) hidden(group string) bool { return v[group] == hidden }
func (v groupViews) stale(group string) bool  { return v[group] == stale || v[group] == broken }

// look tells what the answer to a request shows; nil is for all.
func (d *Discovery) look(t requestinfo.RequestInfo) groupViews {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.groups) == 0 {
		return nil
	}
	if t.Prefix == "apis" && t.Group == "" {
		d.asked++
	}
	shown := make(groupViews, len(d.groups))
	for name, v := range d.groups {
		kind := v.kind
		if kind == flapping {
			kind = whole
			if (d.asked-v.since)%2 == 1 {
				kind = hidden
			}
		}
		shown[name] = kind
	}
	return shown
}

// refuse answers for a document that is not to be had, and reports whether it did.
func (v groupViews) refuse(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) bool {
	switch {
	case t.Group == "":
		return false
	case v[t.Group] == hidden:
		http.NotFound(w, r)
		return true
	case v[t.Group] == broken && t.Version != "":
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return true
	}
	return false
}
