package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	fakeapi "example.com/fakeapi/fake"
)

// Snapshot takes a snapshot of the store, with a name for [Restore].
func Snapshot(name string) Step { return snapshot{name} }

type snapshot struct{ name string }

func (kinds) Snapshot() stepKind {
	return stepKind{"snapshot NAME", parseSnapshot}
}

func parseSnapshot(a *args) (Step, error) {
	name, err := parseName(a, "a snapshot")
	return snapshot{name}, err
}

func (s snapshot) String() string { return "snapshot " + quote(s.name) }

func (s snapshot) Run(_ context.Context, e *Env) error {
	if _, ok := e.snapshots[s.name]; ok {
		return fmt.Errorf("there is a snapshot %q already", s.name)
	}
	e.waitIdle()
	if e.snapshots == nil {
		e.snapshots = map[string]fakeapi.Snapshot{}
	}
	taken := e.Server().Snapshot()
	e.snapshots[s.name] = taken
	e.Note("revision %s", taken.ResourceVersion())
	return nil
}

// Restore restores all objects from a snapshot, as restoring etcd from a backup does. Watches end,
// and the history is forgotten. With bump 0 resourceVersions go back and are assigned again to
// other objects, and running informers keep objects that no longer exist. Otherwise
// resourceVersions continue at bump above the highest one, and clients list again.
func Restore(name string, bump uint64) Step { return restore{name, bump} }

type restore struct {
	name string
	bump uint64
}

func (kinds) Restore() stepKind {
	return stepKind{"restore NAME [BUMP]", parseRestore}
}

func parseRestore(a *args) (Step, error) {
	words, err := a.words(1, 2)
	if err != nil {
		return nil, err
	}
	s := restore{name: words[0]}
	if len(words) == 2 {
		if s.bump, err = strconv.ParseUint(words[1], 10, 63); err != nil {
			return nil, fmt.Errorf("expected a number of revisions, found %q", words[1])
		}
	}
	return s, nil
}

func (s restore) String() string {
	bump := ""
	if s.bump > 0 {
		bump = strconv.FormatUint(s.bump, 10)
	}
	return joinWords("restore", quote(s.name), bump)
}

func (s restore) Run(_ context.Context, e *Env) error {
	taken, ok := e.snapshots[s.name]
	if !ok {
		return mismatch{"a snapshot " + quote(s.name), listOrNone(slices.Sorted(maps.Keys(e.snapshots)))}
	}
	if err := e.Server().Restore(taken, s.bump); err != nil {
		return err
	}
	e.Note("revision %s", e.Server().ResourceVersion())
	return nil
}
