package lifecycle

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// lifeStep is a step of testdata/life.json: what someone did to definitions of a real
// v0.37.2 server, and what a watch of them showed until nothing more came.
type lifeStep struct {
	Do, Name string
	CRD      json.RawMessage
	Events   []lifeEvent
}

// lifeEvent is what counts of an event.
type lifeEvent struct {
	Type, Name     string
	Generation     int64
	Terminating    bool
	Finalizers     []string
	AcceptedNames  apiextensionsv1.CustomResourceDefinitionNames
	StoredVersions []string
	Conditions     []string
}

// lived is a set of definitions, and what was seen of them.
type lived struct {
	t      *testing.T
	now    time.Time
	stored map[string]*apiextensionsv1.CustomResourceDefinition
	seen   []lifeEvent
	held   bool // whether instances stay because of their finalizers
}

// show notes an event.
func (l *lived) show(kind string, crd *apiextensionsv1.CustomResourceDefinition) {
	event := lifeEvent{
		Type: kind, Name: crd.Name, Generation: crd.Generation, Terminating: crd.DeletionTimestamp != nil, Finalizers: crd.Finalizers,
		AcceptedNames: crd.Status.AcceptedNames, StoredVersions: crd.Status.StoredVersions, Conditions: []string{},
	}
	for _, c := range crd.Status.Conditions {
		event.Conditions = append(event.Conditions, strings.Join([]string{string(c.Type), string(c.Status), c.Reason, c.Message}, " "))
	}
	l.seen = append(l.seen, event)
}

// put stores a definition, or lets it go if its end is due.
func (l *lived) put(crd *apiextensionsv1.CustomResourceDefinition) {
	before, there := l.stored[crd.Name]
	switch {
	case there && crd.DeletionTimestamp != nil && len(crd.Finalizers) == 0:
		delete(l.stored, crd.Name)
		l.show("DELETED", before)
	case there:
		l.stored[crd.Name] = crd
		l.show("MODIFIED", crd)
	default:
		l.stored[crd.Name] = crd
		l.show("ADDED", crd)
	}
}

// settle lets the controllers work after a change.
func (l *lived) settle(name string) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range l.stored {
		all = append(all, crd)
	}
	for _, next := range Settle(all, name, l.now) {
		l.put(next)
	}
}

// finalize lets the finalizing controller work, as far as the instances let it.
func (l *lived) finalize(name string) {
	require.True(l.t, MustFinalize(l.stored[name]))
	if !apihelpers.IsCRDConditionTrue(l.stored[name], apiextensionsv1.Terminating) || !l.began(name) {
		l.put(Finalizing(l.stored[name], l.now))
	}
	if l.held && DeletesInstances(l.stored[name]) {
		return
	}
	l.put(Finalized(l.stored[name], l.now))
	l.settle(name)
}

// began reports whether the instances of a definition are being deleted already.
func (l *lived) began(name string) bool {
	return apihelpers.FindCRDCondition(l.stored[name], apiextensionsv1.Terminating).Reason == "InstanceDeletionInProgress"
}

// play does a step.
func (l *lived) play(step lifeStep) {
	old := l.stored[step.Name]
	switch step.Do {
	case "create":
		crd := decoded(l.t, step.CRD, nil)
		PrepareCreate(crd)
		require.Empty(l.t, ValidateCreate(l.t.Context(), crd))
		crd.ResourceVersion = "1"
		l.put(crd)
		l.settle(step.Name)
	case "update":
		crd := decoded(l.t, step.CRD, nil)
		crd.ResourceVersion, crd.Generation, crd.DeletionTimestamp = "1", old.Generation, old.DeletionTimestamp
		PrepareUpdate(crd, old)
		require.Empty(l.t, ValidateUpdate(l.t.Context(), crd, old))
		l.put(crd)
		l.settle(step.Name)
	case "delete":
		l.put(MarkDeleted(old, l.now))
		l.finalize(step.Name)
	case "hold": // an instance with a finalizer
		l.held = true
	case "emptied": // that finalizer is gone
		l.held = false
		l.finalize(step.Name)
	case "waited": // for as long as the controller does
		l.put(FinalizingFailed(old, l.now))
		l.finalize(step.Name)
	default:
		require.Fail(l.t, "no such step", step.Do)
	}
}

// TestRecordedLife goes the way of definitions on a real server: accepted, in
// conflict, renamed, deleted with instances that stay, gone.
func TestRecordedLife(t *testing.T) {
	raw, err := os.ReadFile("testdata/life.json")
	require.NoError(t, err)
	var steps []lifeStep
	require.NoError(t, json.Unmarshal(raw, &steps))
	require.NotEmpty(t, steps)
	l := &lived{t: t, now: time.Now(), stored: map[string]*apiextensionsv1.CustomResourceDefinition{}}
	for i, step := range steps {
		l.now, l.seen = l.now.Add(time.Minute), nil
		l.play(step)
		require.Equal(t, step.Events, slices.Clone(l.seen), "step %d: %s %s", i, step.Do, step.Name)
	}
}
