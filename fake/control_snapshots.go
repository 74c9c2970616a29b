package fakeapi

import (
	"cmp"
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
	mu     sync.Mutex // guards byName
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

// set takes a snapshot under a name.
func (s *snapshots) set(name string, take func() Snapshot) (Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, replaced := s.byName[name]; !replaced && len(s.byName) >= maxSnapshots {
		return Snapshot{}, limitError(maxSnapshots, "snapshots")
	}
	if s.byName == nil {
		s.byName = make(map[string]Snapshot)
	}
	s.byName[name] = take()
	return s.byName[name], nil
}

func (s *snapshots) get(name string) (Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(name)
}

func (s *snapshots) remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.find(name)
	delete(s.byName, name)
	return err
}

// find returns a snapshot. The caller holds mu.
func (s *snapshots) find(name string) (Snapshot, error) {
	snap, ok := s.byName[name]
	if !ok {
		return snap, apierrors.NewNotFound(schema.GroupResource{Resource: "snapshots"}, name)
	}
	return snap, nil
}

func (c *controlAPI) listSnapshots(w http.ResponseWriter, r *http.Request) error {
	return writeList(w, r, http.StatusOK, "snapshots", c.snapshots.list())
}

// createSnapshot takes a snapshot. It replaces one of the same name.
func (c *controlAPI) createSnapshot(w http.ResponseWriter, r *http.Request) error {
	name, err := pathName(r)
	if err != nil {
		return err
	}
	snap, err := c.snapshots.set(name, c.server.snapshot)
	if err != nil {
		return err
	}
	c.server.note("Snapshot %s at resourceVersion %s", name, snap.ResourceVersion())
	return writeList(w, r, http.StatusCreated, "snapshots", []snapshotJSON{{name, snap.ResourceVersion()}})
}

func (c *controlAPI) deleteSnapshot(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if err := c.snapshots.remove(name); err != nil {
		return err
	}
	c.server.note("remove snapshot %s", name)
	return writeNoContent(w)
}

func (c *controlAPI) restoreSnapshot(w http.ResponseWriter, r *http.Request) error {
	name, bump := r.PathValue("name"), cmp.Or(r.URL.Query().Get("bump"), "0")
	restore, err := c.prepareRestore(name, bump)
	if err != nil {
		return err
	}
	if err := restore(); err != nil {
		return err
	}
	c.server.note("Restore of snapshot %s with bump %s", name, bump)
	return writeNoContent(w)
}

// prepareRestore returns a function that restores a snapshot, or an error if that is not possible.
func (c *controlAPI) prepareRestore(name, bump string) (restore func() error, err error) {
	snap, err := c.snapshots.get(name)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(bump, 10, 64)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("bump: %v", err))
	}
	if err := c.server.checkRestore(snap, n); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func() error { return c.server.restore(snap, n) }, nil
}
