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

// snapshots has the snapshots of the control API by name.
type snapshots struct {
	mu     sync.Mutex
	byName map[string]Snapshot
}

// snapshotJSON is the JSON form of a snapshot.
type snapshotJSON struct {
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion"`
}

// String returns the snapshot in one line.
func (s snapshotJSON) String() string { return s.Name + " at " + s.ResourceVersion }

func (s *snapshots) list() (list []snapshotJSON) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		list = append(list, snapshotJSON{name, s.byName[name].ResourceVersion()})
	}
	return list
}

func (s *snapshots) set(name string, snap Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = make(map[string]Snapshot)
	}
	s.byName[name] = snap
}

func (s *snapshots) get(name string) (Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, ok := s.byName[name]
	if !ok {
		return snap, apierrors.NewNotFound(schema.GroupResource{Resource: "snapshots"}, name)
	}
	return snap, nil
}

func (s *snapshots) remove(name string) error {
	if _, err := s.get(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byName, name)
	return nil
}

func (c *controlAPI) listSnapshots(w http.ResponseWriter, r *http.Request) error {
	return writeList(w, r, http.StatusOK, "snapshots", c.snapshots.list())
}

// createSnapshot takes a snapshot. It replaces one of the same name.
func (c *controlAPI) createSnapshot(w http.ResponseWriter, r *http.Request) error {
	name, snap := r.PathValue("name"), c.server.Snapshot()
	c.snapshots.set(name, snap)
	return writeList(w, r, http.StatusCreated, "snapshots", []snapshotJSON{{name, snap.ResourceVersion()}})
}

func (c *controlAPI) deleteSnapshot(w http.ResponseWriter, r *http.Request) error {
	if err := c.snapshots.remove(r.PathValue("name")); err != nil {
		return err
	}
	return writeNoContent(w)
}

func (c *controlAPI) restoreSnapshot(w http.ResponseWriter, r *http.Request) error {
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
	return writeNoContent(w)
}
