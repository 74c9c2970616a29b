package managedfields

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/jsonvalue"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// FuzzApply compares two applies of arbitrary JSON with the fast path and with the library: one by
// a manager that creates the object, and one by the same or another manager.
func FuzzApply(f *testing.F) {
	for _, second := range []string{
		`{"metadata":{"labels":{"a":"2"}},"spec":{"replicas":2}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"b","env":[{"name":"e","value":"v"}]},{"name":"d"}]}}}}`,
		`{"metadata":{"finalizers":["f/g"],"ownerReferences":[{"uid":"u","name":"o"}]},"status":{"replicas":1}}`,
		`{"spec":{"selector":{"matchLabels":null},"template":null}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP"}]}]}}}}`,
		`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"25%"}},"progressDeadlineSeconds":1.0}}`,
	} {
		f.Add(`{"metadata":{"labels":{"a":"1"}},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"a"}]}}}}`, second, true, true)
		f.Add(second, second, false, false)
	}
	res := builtin.Table().Lookup("apps", "v1", "deployments")
	m, err := BuiltinFieldManager(res, "")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, first, second string, sameManager, force bool) {
		manager := "b"
		if sameManager {
			manager = "a"
		}
		synctest.Test(t, func(t *testing.T) { // both applies are at the same time
			var d differentialTest
			apply := func(live runtime.Object, text, manager string, force bool) runtime.Object {
				config, err := jsonvalue.Decode([]byte(text))
				if err != nil || config == nil {
					return nil
				}
				config["apiVersion"], config["kind"] = m.kind.ToAPIVersionAndKind()
				return d.apply(t, m, live, config, manager, force, text)
			}
			live := apply(nil, first, "a", false)
			if live == nil {
				return
			}
			setUID(live)
			apply(live, second, manager, force)
		})
	})
}
