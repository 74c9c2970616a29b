package scenario

import (
	"slices"

	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// door is one API server of a run: the first, or a replica of it.
type door struct {
	name    string
	server  *fakeapi.Server
	replica *fakeapi.Replica  // nil for the first
	dynamic dynamic.Interface // how steps reach it
}

// mainDoor is what steps call the first server of a run.
const mainDoor = "main"

// label is what lines of the transcript call it: "" for the first.
func (d *door) label() string {
	if d.replica == nil {
		return ""
	}
	return d.name
}

// open makes a server known, and connects the steps to it.
func (e *Env) open(d *door) error {
	err := e.inside(d, func() (err error) {
		d.dynamic, err = e.dynamicAs(stepsAgent)
		return err
	})
	if err == nil {
		e.doors = append(e.doors, d)
	}
	return err
}

// inside has the steps go through a door while do runs.
func (e *Env) inside(d *door, do func() error) error {
	before := e.at
	e.at = d
	defer func() { e.at = before }()
	return do()
}

// door finds one by its name.
func (e *Env) door(name string) (*door, error) {
	if i := slices.IndexFunc(e.doors, func(d *door) bool { return d.name == name }); i >= 0 {
		return e.doors[i], nil
	}
	return nil, mismatch{"a replica " + quote(name), orNone(e.doorNames())}
}

func (e *Env) doorNames() []string {
	var names []string
	for _, d := range e.doors {
		names = append(names, d.name)
	}
	return names
}
