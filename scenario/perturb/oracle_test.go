package perturb

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/faults"
	"example.com/fakeapi/scenario"
)

// judgmentOf returns a judgment of a run whose reference has no requests and no changes.
func judgmentOf(t *testing.T, got *result, controllers ...string) *judgment {
	n, err := newNormalizer(nil)
	require.NoError(t, err)
	config := &Config{Controllers: map[string]scenario.Client{}}
	for _, name := range controllers {
		config.Controllers[name] = func(context.Context, *rest.Config) error { return nil }
	}
	empty := &result{requestLog: &requestLog{}, changeLog: newChangeLog(n, nil)}
	return &judgment{r: &reference{result: empty, config: config, normalizer: n}, got: got}
}

// The last error in a violation is that of the controller that the violation is about.
func TestLastError(t *testing.T) {
	log := &requestLog{}
	for range 5 {
		log.addExit("a: conflict")
	}
	log.addExit("b: timeout")
	violations := judgmentOf(t, &result{requestLog: log}, "a", "b").errors()
	require.Len(t, violations, 1)
	require.Equal(t, "expected a controller that works after a restart; saw it end 5 times, the last time with conflict", violations[0].text)
}

// A change is only of a request that can have made it.
func TestMayHaveMade(t *testing.T) {
	o := &object{key: objectKey{"deployments.apps", "default", "a"}}
	created, changed, deleted := &change{revision: 5, after: o}, &change{revision: 5, before: o, after: o}, &change{revision: 5, before: o}
	for _, c := range []struct {
		verb, name                string
		created, changed, deleted bool
	}{
		{"create", "", true, false, false},
		{"create", "a", false, true, true}, // of a subresource
		{"update", "a", true, true, true},
		{"patch", "a", true, true, true},
		{"patch", "b", false, false, false},
		{"delete", "a", false, true, true},
		{"delete", "b", false, false, false},
		{"deletecollection", "", false, true, true},
		{"get", "a", false, false, false},
	} {
		r := &request{Op: faults.Op{Verb: c.verb, Group: "apps", Resource: "deployments", Namespace: "default", Name: c.name}, before: 4, after: 5}
		require.Equal(t, c.created, r.mayHaveMade(created), "%s %s", c.verb, c.name)
		require.Equal(t, c.changed, r.mayHaveMade(changed), "%s %s", c.verb, c.name)
		require.Equal(t, c.deleted, r.mayHaveMade(deleted), "%s %s", c.verb, c.name)
	}
	for _, r := range []*request{
		{Op: faults.Op{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "default", Name: "a"}, before: 5, after: 6},
		{Op: faults.Op{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "default", Name: "a"}, before: 3, after: 4},
		{Op: faults.Op{Verb: "patch", Resource: "deployments", Namespace: "default", Name: "a"}, before: 4, after: 5},
		{Op: faults.Op{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "other", Name: "a"}, before: 4, after: 5},
	} {
		require.False(t, r.mayHaveMade(changed))
	}
	unanswered := &request{Op: faults.Op{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "default", Name: "a"}, before: 4}
	require.True(t, unanswered.mayHaveMade(changed))
}

// A controller that renews its lease at the same time as another one renews another lease has not
// become leader instead of it.
func TestTakeoversOfLeases(t *testing.T) {
	lease := func(name, holder string) *object {
		return &object{key: objectKey{"leases.coordination.k8s.io", "default", name}, fields: map[string]any{"spec": map[string]any{"holderIdentity": holder}}}
	}
	update := func(client, name string, before, after uint64) *request {
		op := faults.Op{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default", Name: name}
		return &request{Op: op, client: client, code: 200, before: before, after: after}
	}
	got := &result{requestLog: &requestLog{}, changeLog: newChangeLog(nil, nil)}
	got.changes = []*change{
		{revision: 1, after: lease("a", "one")},
		{revision: 3, before: lease("a", "one"), after: lease("a", "two"), at: time.Unix(3, 0)},
	}
	got.requests = []*request{update("x", "a", 0, 1), update("y", "a", 2, 3), update("z", "b", 2, 3)}
	require.Equal(t, []takeover{{client: "x", by: "y", at: time.Unix(3, 0)}}, judgmentOf(t, got).takeovers())

	// A leader that loses the lease and gets it back may write again. One that releases it is not
	// replaced.
	got.changes = append(got.changes,
		&change{revision: 5, before: lease("a", "two"), after: lease("a", "one"), at: time.Unix(5, 0)},
		&change{revision: 6, before: lease("a", "one"), after: lease("a", ""), at: time.Unix(6, 0)},
		&change{revision: 7, before: lease("a", ""), after: lease("a", "two"), at: time.Unix(7, 0)})
	got.requests = append(got.requests, update("x", "a", 4, 5), update("x", "a", 5, 6), update("y", "a", 6, 7))
	require.Equal(t, []takeover{
		{client: "x", by: "y", at: time.Unix(3, 0), until: time.Unix(5, 0)}, {client: "y", by: "x", at: time.Unix(5, 0), until: time.Unix(7, 0)},
	}, judgmentOf(t, got).takeovers())
}
