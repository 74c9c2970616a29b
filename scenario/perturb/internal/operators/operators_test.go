package operators

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/scenario"
)

// repetitions is how often each scenario runs, as the order of goroutines varies.
const repetitions = 10

// The scenario of each operator fails at an expectation for the buggy form, and passes for the
// repaired form.
func TestScenarios(t *testing.T) {
	for _, o := range All() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(repetitions) {
				_, err := scenario.Play(o.Name, o.Scenario, configOf(o, o.Buggy, seed))
				var failure *scenario.Failure
				require.ErrorAs(t, err, &failure, "buggy")
				require.True(t, strings.HasPrefix(failure.Step, "expect "), "%v", err)
				require.ErrorContains(t, failure.Cause, "; saw ")
				_, err = scenario.Play(o.Name, o.Scenario, configOf(o, o.Repaired, seed))
				require.NoError(t, err, "repaired")
			}
		})
	}
}

// Without a disturbance, both forms reach the same final state.
func TestUndisturbed(t *testing.T) {
	for _, o := range All() {
		t.Run(o.Name, func(t *testing.T) {
			var states []string
			for seed := range uint64(repetitions) {
				for _, client := range []scenario.Client{o.Buggy, o.Repaired} {
					states = append(states, finalState(t, o, client, seed))
				}
			}
			t.Log(states[0])
			for _, state := range states {
				require.Equal(t, states[0], state)
			}
		})
	}
}

// The clean operator passes its scenario, and always reaches the same final state.
func TestClean(t *testing.T) {
	o := Clean()
	want := finalState(t, o, o.Repaired, 0)
	t.Log(want)
	for seed := range uint64(repetitions) {
		_, err := scenario.Play(o.Name, o.Scenario, configOf(o, o.Repaired, seed))
		require.NoError(t, err)
		require.Equal(t, want, finalState(t, o, o.Repaired, seed))
	}
}

func TestDescriptions(t *testing.T) {
	var names []string
	for _, o := range All() {
		names = append(names, o.Name)
		for address := range strings.FieldsSeq(o.Source) {
			require.Regexp(t, `^https://github\.com/[\w-]+/[\w-]+/(issues|pull)/\d+$`, address, o.Name)
		}
		require.NotEmpty(t, o.Source, o.Name)
		require.Regexp(t, `^[A-Z].*\.$`, o.Bug, o.Name)
		require.Regexp(t, `^[A-Z].*\.$`, o.Shows, o.Name)
	}
	require.Len(t, names, 10)
	require.True(t, slices.IsSorted(names))
	require.Len(t, slices.Compact(names), 10)
}

// configOf returns the configuration for one form of an operator.
func configOf(o Operator, client scenario.Client, seed uint64) scenario.Config {
	return scenario.Config{Seed: seed, Options: o.Options, Clients: map[string]scenario.Client{clientName: client}}
}

// finalState returns the state after the workload, without what differs between two runs.
func finalState(t *testing.T, o Operator, client scenario.Client, seed uint64) (state string) {
	config := configOf(o, client, seed)
	config.AfterRun = func(server *fakeapi.Server, _ error) { state = normalizedState(t, server) }
	steps := append(slices.Clone(o.Setup), scenario.RunClient(clientName))
	for _, step := range o.Workload {
		steps = append(steps, scenario.Advance(10*time.Second), step)
	}
	steps = append(steps, scenario.Advance(time.Minute))
	scenario.Run(t, config, steps...)
	return state
}

// normalizedState returns the objects of the kinds that operators use, one per line.
func normalizedState(t *testing.T, server *fakeapi.Server) string {
	var lines []string
	var pairs []string
	sites := &unstructured.UnstructuredList{}
	sites.SetGroupVersionKind(siteResource().GroupVersion().WithKind("SiteList"))
	lists := []runtime.Object{
		&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceList{}, &corev1.PodList{}, &corev1.PersistentVolumeClaimList{},
		&appsv1.DeploymentList{}, &appsv1.StatefulSetList{},
	}
	if server.List("", sites) == nil {
		lists = append(lists, sites)
	}
	for _, list := range lists {
		require.NoError(t, server.List("", list))
		objects, err := meta.ExtractList(list)
		require.NoError(t, err)
		for _, object := range objects {
			o, err := meta.Accessor(object)
			require.NoError(t, err)
			if o.GetNamespace() != "default" && o.GetNamespace() != "external" || strings.HasPrefix(o.GetName(), "kube") {
				continue
			}
			pairs = append(pairs, string(o.GetUID()), "UID-"+o.GetName())
			if prefix := o.GetGenerateName(); prefix != "" {
				o.SetGenerateName("")
				o.SetName(prefix + "1")
			}
			o.SetUID("")
			o.SetResourceVersion("")
			o.SetManagedFields(nil)
			o.SetCreationTimestamp(metav1.Time{})
			text, err := json.Marshal(object)
			require.NoError(t, err)
			lines = append(lines, fmt.Sprintf("%T %s", object, text))
		}
	}
	slices.Sort(lines)
	return strings.NewReplacer(pairs...).Replace(strings.Join(lines, "\n"))
}
