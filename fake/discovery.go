package fakeapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"example.com/fakeapi/internal/requestinfo"
)

// Discovery makes the discovery of API groups wrong. Objects of the groups are still served, and
// the OpenAPI documents and the core group do not change. A later call for a group replaces an
// earlier one. Groups that the server does not have are an error.
type Discovery struct {
	server *Server

	mu       sync.Mutex // guards the fields below
	groups   map[string]groupState
	requests uint64 // counts the responses of /apis
}

// groupState is the condition of a group.
type groupState struct {
	condition groupCondition
	// flapStart is the value of requests when the group began to flap.
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

// String returns the name of the method that sets the condition.
func (c groupCondition) String() string {
	return [...]string{groupHealthy: "Reset", groupHidden: "Hide", groupUnavailable: "Fail", groupStale: "MarkStale", groupFlapping: "Flap"}[c]
}

// Discovery returns the object that makes discovery wrong.
func (s *Server) Discovery() *Discovery { return s.groups }

// Hide removes groups from discovery: they are in no list, and their documents are 404, as for an
// API that is not installed.
func (d *Discovery) Hide(groups ...string) error { return d.set(groupHidden, groups) }

// Fail makes groups unavailable, like those of an aggregated API server that is down: they are
// listed, the document of each version gets 503 "service unavailable", and in aggregated discovery
// it is stale and empty.
func (d *Discovery) Fail(groups ...string) error { return d.set(groupUnavailable, groups) }

// MarkStale makes groups stale in aggregated discovery: each version has only its name and the
// freshness Stale. The other documents do not change.
func (d *Discovery) MarkStale(groups ...string) error { return d.set(groupStale, groups) }

// Flap makes groups come and go: they are missing from every other response of /apis, starting with
// the next one. Their own documents are available if they were in the last response.
func (d *Discovery) Flap(groups ...string) error { return d.set(groupFlapping, groups) }

// Reset makes discovery correct for these groups, or without arguments for all.
func (d *Discovery) Reset(groups ...string) error {
	if len(groups) > 0 {
		return d.set(groupHealthy, groups)
	}
	d.server.note("Discovery.Reset")
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups = nil
	return nil
}

func (d *Discovery) set(kind groupCondition, groups []string) error {
	for _, g := range groups {
		if g == "" || !d.server.types.Table().HasGroup(g) {
			return fmt.Errorf("fakeapi: discovery: %q is not a group of /apis", g)
		}
	}
	d.server.note("Discovery.%s of %s", kind, strings.Join(groups, ", "))
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

// groupConditions has the conditions of groups in one response.
type groupConditions map[string]groupCondition

func (c groupConditions) hidden(group string) bool { return c[group] == groupHidden }
func (c groupConditions) stale(group string) bool {
	return c[group] == groupStale || c[group] == groupUnavailable
}

// conditions returns the conditions for the response to a request, or nil if all groups are
// healthy.
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

// writeUnavailable writes the error of a document that is not available, and reports whether it
// did.
func (c groupConditions) writeUnavailable(w http.ResponseWriter, r *http.Request, info *requestinfo.RequestInfo) bool {
	switch {
	case info.Group == "":
		return false
	case c[info.Group] == groupHidden:
		http.NotFound(w, r)
		return true
	case c[info.Group] == groupUnavailable && info.Version != "":
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return true
	}
	return false
}
