package fakeapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// snapshots are those taken through the control API, by name.
type snapshots struct {
	mu    sync.Mutex
	taken map[string]Snapshot
}

// toldSnapshot is a snapshot as the control API tells it.
type toldSnapshot struct {
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion"`
}

// String is one line.
func (s toldSnapshot) String() string { return s.Name + " at " + s.ResourceVersion }

func (s *snapshots) list() (told []toldSnapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.taken)) {
		told = append(told, toldSnapshot{name, s.taken[name].ResourceVersion()})
	}
	return told
}

func (s *snapshots) set(name string, snap Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		s.taken = make(map[string]Snapshot)
	}
	s.taken[name] = snap
}

func (s *snapshots) get(name string) (Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, ok := s.taken[name]
	if !ok {
		return snap, apierrors.NewNotFound(schema.GroupResource{Resource: "snapshots"}, name)
	}
	return snap, nil
}

func (s *snapshots) drop(name string) error {
	if _, err := s.get(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taken, name)
	return nil
}

func (c *control) listSnapshots(w http.ResponseWriter, r *http.Request) error {
	return tell(w, r, http.StatusOK, "snapshots", c.snapshots.list())
}

// takeSnapshot takes one in the place of an earlier one of the name, if there is any.
func (c *control) takeSnapshot(w http.ResponseWriter, r *http.Request) error {
	name, snap := r.PathValue("name"), c.server.Snapshot()
	c.snapshots.set(name, snap)
	return tell(w, r, http.StatusCreated, "snapshots", []toldSnapshot{{name, snap.ResourceVersion()}})
}

func (c *control) dropSnapshot(w http.ResponseWriter, r *http.Request) error {
	if err := c.snapshots.drop(r.PathValue("name")); err != nil {
		return err
	}
	return done(w)
}

func (c *control) restoreSnapshot(w http.ResponseWriter, r *http.Request) error {
	snap, err := c.snapshots.get(r.PathValue("name"))
	if err != nil {
		return err
	}
	var bump uint64
	if text := r.URL.Query().Get("bump"); text != "" {
		if bump, err = strconv.ParseUint(text, 10, 64); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("bump: %v", err))
		}
	}
	if err := c.server.Restore(snap, bump); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return done(w)
}
