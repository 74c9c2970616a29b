package lifecycle

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// recordedStep is a step of testdata/lifecycle.json: a change of the definitions of a real v0.37.2
// server, and the watch events that followed.
type recordedStep struct {
	Do, Name string
	CRD      json.RawMessage
	Events   []recordedEvent
}

// recordedEvent has the compared parts of a watch event.
type recordedEvent struct {
	Type, Name     string
	Generation     int64
	Terminating    bool
	Finalizers     []string
	AcceptedNames  apiextensionsv1.CustomResourceDefinitionNames
	StoredVersions []string
	Conditions     []string
}

// fakeServer has definitions and the events of their changes.
type fakeServer struct {
	t               *testing.T
	now             time.Time
	stored          map[string]*apiextensionsv1.CustomResourceDefinition
	events          []recordedEvent
	instancesRemain bool // instances have finalizers and are not removed
}

// recordEvent appends an event.
func (s *fakeServer) recordEvent(kind string, crd *apiextensionsv1.CustomResourceDefinition) {
	event := recordedEvent{
		Type: kind, Name: crd.Name, Generation: crd.Generation, Terminating: crd.DeletionTimestamp != nil, Finalizers: crd.Finalizers,
		AcceptedNames: crd.Status.AcceptedNames, StoredVersions: crd.Status.StoredVersions, Conditions: []string{},
	}
	for _, c := range crd.Status.Conditions {
		event.Conditions = append(event.Conditions, strings.Join([]string{string(c.Type), string(c.Status), c.Reason, c.Message}, " "))
	}
	s.events = append(s.events, event)
}

// store stores a definition, or removes it if it is deleted and has no finalizers.
func (s *fakeServer) store(crd *apiextensionsv1.CustomResourceDefinition) {
	before, exists := s.stored[crd.Name]
	switch {
	case exists && crd.DeletionTimestamp != nil && len(crd.Finalizers) == 0:
		delete(s.stored, crd.Name)
		s.recordEvent("DELETED", before)
	case exists:
		s.stored[crd.Name] = crd
		s.recordEvent("MODIFIED", crd)
	default:
		s.stored[crd.Name] = crd
		s.recordEvent("ADDED", crd)
	}
}

// reconcile runs the controllers after a change.
func (s *fakeServer) reconcile(name string) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range s.stored {
		all = append(all, crd)
	}
	for _, next := range Reconcile(all, name, s.now) {
		s.store(next)
	}
}

// finalize runs the finalizing controller until it waits for instances.
func (s *fakeServer) finalize(name string) {
	require.True(s.t, NeedsFinalizing(s.stored[name]))
	if !apihelpers.IsCRDConditionTrue(s.stored[name], apiextensionsv1.Terminating) || !s.finalizingStarted(name) {
		s.store(StartFinalizing(s.stored[name], s.now))
	}
	if s.instancesRemain && MustDeleteInstances(s.stored[name]) {
		return
	}
	s.store(FinishFinalizing(s.stored[name], s.now))
	s.reconcile(name)
}

// finalizingStarted reports whether the instances of a definition are being deleted.
func (s *fakeServer) finalizingStarted(name string) bool {
	return apihelpers.FindCRDCondition(s.stored[name], apiextensionsv1.Terminating).Reason == "InstanceDeletionInProgress"
}

// runStep runs a step.
func (s *fakeServer) runStep(step recordedStep) {
	old := s.stored[step.Name]
	switch step.Do {
	case "create":
		crd := decodeCRD(s.t, step.CRD, nil)
		PrepareForCreate(crd)
		require.Empty(s.t, Validate(s.t.Context(), crd))
		crd.ResourceVersion = "1"
		s.store(crd)
		s.reconcile(step.Name)
	case "update":
		crd := decodeCRD(s.t, step.CRD, nil)
		crd.ResourceVersion, crd.Generation, crd.DeletionTimestamp = "1", old.Generation, old.DeletionTimestamp
		PrepareForUpdate(crd, old)
		require.Empty(s.t, ValidateUpdate(s.t.Context(), crd, old))
		s.store(crd)
		s.reconcile(step.Name)
	case "delete":
		s.store(MarkTerminating(old, s.now))
		s.finalize(step.Name)
	case "hold": // an instance with a finalizer
		s.instancesRemain = true
	case "emptied": // the finalizer was removed
		s.instancesRemain = false
		s.finalize(step.Name)
	case "waited": // until the controller gave up
		s.store(finalizingFailed(old, s.now))
		s.finalize(step.Name)
	default:
		require.Fail(s.t, "no such step", step.Do)
	}
}

// TestRecordedLifecycle replays recorded changes: definitions are established, conflict, get other
// names, and are deleted while instances remain.
func TestRecordedLifecycle(t *testing.T) {
	raw, err := testdata.ReadFile("testdata/lifecycle.json")
	require.NoError(t, err)
	var steps []recordedStep
	require.NoError(t, json.Unmarshal(raw, &steps))
	require.NotEmpty(t, steps)
	s := &fakeServer{t: t, now: time.Now(), stored: map[string]*apiextensionsv1.CustomResourceDefinition{}}
	for i, step := range steps {
		s.now, s.events = s.now.Add(time.Minute), nil
		s.runStep(step)
		require.Equal(t, step.Events, slices.Clone(s.events), "step %d: %s %s", i, step.Do, step.Name)
	}
}

// finalizingFailed returns the state that a real server writes if instances remain for one minute.
func finalizingFailed(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	return withConditions(crd, now, newTerminatingCondition(apiextensionsv1.ConditionTrue, "InstanceDeletionCheck",
		"could not confirm zero CustomResources remaining: context deadline exceeded"))
}
