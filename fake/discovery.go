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

	mu       sync.Mutex // guards all below
	groups   map[string]groupState
	requests uint64 // counts the documents of /apis given
}

// groupState is what is shown of a group.
type groupState struct {
	condition groupCondition
	// flapStart is what asked was when the group began to flap.
	flapStart uint64
}

type groupCondition uint8

const (
	groupHealthy groupCondition = iota
	groupHidden
	groupUnavailable
	groupStale
	groupFlapping
)

// Discovery is the server's discovery; see its methods for what can be wrong with it.
func (s *Server) Discovery() *Discovery { return s.groups }

// Hide takes groups out of discovery: they are in no list, and their documents are
// 404, as for an API that is not installed. Like the others it refuses a group that the
// server does not have.
func (d *Discovery) Hide(groups ...string) error { return d.set(groupHidden, groups) }

// Fail makes groups those of an aggregated API that is down: they are listed, the
// document of each version is 503 "service unavailable", and in aggregated discovery
// it is stale and empty.
func (d *Discovery) Fail(groups ...string) error { return d.set(groupUnavailable, groups) }

// MarkStale makes groups stale in aggregated discovery: of each version there is nothing
// but its name and the freshness Stale. The other documents stay.
func (d *Discovery) MarkStale(groups ...string) error { return d.set(groupStale, groups) }

// Flap makes groups come and go: they are missing from every other answer of /apis,
// from the next one on, and their own documents are there as they were in the last.
func (d *Discovery) Flap(groups ...string) error { return d.set(groupFlapping, groups) }

// Reset makes discovery right again for these groups, or without any for all.
func (d *Discovery) Reset(groups ...string) error {
	if len(groups) > 0 {
		return d.set(groupHealthy, groups)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups = nil
	return nil
}

func (d *Discovery) set(kind groupCondition, groups []string) error {
	for _, g := range groups {
		if g == "" || !d.server.types.Table().HasGroup(g) {
			return fmt.Errorf("fakeapi: discovery: %q is no group of /apis", g)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.groups == nil {
		d.groups = make(map[string]groupState)
	}
	for _, g := range groups {
		d.groups[g] = groupState{condition: kind, flapStart: d.requests}
	}
	return nil
}

// groupConditions is what is shown of the groups in one answer.
type groupConditions map[string]groupCondition

func (v groupConditions) hidden(group string) bool { return v[group] == groupHidden }
func (v groupConditions) stale(group string) bool {
	return v[group] == groupStale || v[group] == groupUnavailable
}

// conditions tells what the answer to a request shows; nil is for all.
func (d *Discovery) conditions(info *requestinfo.RequestInfo) groupConditions {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.groups) == 0 {
		return nil
	}
	if info.Prefix == "apis" && info.Group == "" {
		d.requests++
	}
	list := make(groupConditions, len(d.groups))
	for name, v := range d.groups {
		kind := v.condition
		if kind == groupFlapping {
			kind = groupHealthy
			if (d.requests-v.flapStart)%2 == 1 {
				kind = groupHidden
			}
		}
		list[name] = kind
	}
	return list
}

// writeUnavailable answers for a document that is not to be had, and reports whether it did.
func (v groupConditions) writeUnavailable(w http.ResponseWriter, r *http.Request, info *requestinfo.RequestInfo) bool {
	switch {
	case info.Group == "":
		return false
	case v[info.Group] == groupHidden:
		http.NotFound(w, r)
		return true
	case v[info.Group] == groupUnavailable && info.Version != "":
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return true
	}
	return false
}
