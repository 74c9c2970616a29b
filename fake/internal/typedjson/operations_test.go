package typedjson_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/typedjson"
)

// The result of a JSON patch is that of the library, in objects as they were decoded.
func TestApplyOperations(t *testing.T) {
	patched, valid := 0, 0
	forEach(t, 5, func(g *generator, typ *typedjson.Type, goType reflect.Type, obj any) {
		current, err := json.Marshal(obj)
		require.NoError(t, err)
		doc, other := toDocument(t, obj), toDocument(t, g.object(goType))
		stored := reflect.New(goType).Interface()
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(current, stored))
		current, err = json.Marshal(stored) // without strings that are not UTF-8
		require.NoError(t, err)
		for range 12 {
			operations := g.operations(doc, other)
			want, err := patchedByLibrary(goType, current, operations)
			got := reflect.New(goType).Interface()
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(current, got))
			if typ.ApplyOperations(operations, got) {
				patched++
				require.NoError(t, err, "%v\n%s\n%s", goType, current, operations)
				require.True(t, reflect.DeepEqual(want, got), "%v\n%s\n%s\n%s", goType, current, operations, cmp.Diff(want, got))
			}
			if err == nil {
				valid++
			}
		}
	})
	t.Logf("%d of %d", patched, valid)
	require.Greater(t, patched, valid/2)
}

// patchedByLibrary returns what the library makes of the JSON of an object and a JSON patch. A
// panic of the library, for a test of lists with null, is an error.
func patchedByLibrary(goType reflect.Type, current []byte, operations []typedjson.Operation) (obj any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	var all []map[string]any
	for _, op := range operations {
		one := map[string]any{"op": op.Op, "path": op.Path}
		if op.Value != nil {
			one["value"] = json.RawMessage(op.Value)
		}
		all = append(all, one)
	}
	body, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	result, err := patch.Apply(current)
	if err != nil {
		return nil, err
	}
	obj = reflect.New(goType).Interface()
	strict, err := kjson.UnmarshalStrict(result, obj)
	if err == nil && len(strict) > 0 {
		err = strict[0]
	}
	return obj, err
}

// JSON patches that are supported, and those that are left to the library.
func TestApplyOperationsRules(t *testing.T) {
	const deployment = `{"metadata":{"labels":{"a":"1"},"finalizers":["x"]},"spec":{"replicas":1,"paused":true,"selector":null,"template":{"metadata":{},"spec":{"containers":[
		{"name":"x","image":"x:1","resources":{"limits":{"cpu":"1000m"}}},{"name":"y","image":"<y>","volumeMounts":[],"resizePolicy":null}],"topologySpreadConstraints":[
		{"topologyKey":"k","labelSelector":{"matchExpressions":[{"key":"k","operator":"Exists"}]}}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":null}}}}}}}`
	var stored appsv1.Deployment
	require.NoError(t, json.Unmarshal([]byte(deployment), &stored))
	current, err := json.Marshal(&stored)
	require.NoError(t, err)
	for _, tt := range []struct {
		operations string // op path value
		supported  bool
	}{
		{`replace /spec/replicas 2`, true},
		{`add /spec/replicas 2`, true},
		{`replace /spec/replicas "2"`, false},
		{`replace /spec/replicas 2.0`, false},
		{`replace /spec/unknown 2`, false},
		{`remove /spec/replicas`, true},
		{`remove /spec/paused`, true},
		{`remove /spec/minReadySeconds`, false},
		{`remove /spec/selector`, false},
		{`remove /spec/template; replace /spec/template/metadata/name "a"`, false},
		{`add /spec/selector/matchLabels {"a":"1"}`, false},
		{`add /spec/selector {"matchLabels":{"a":"1"}}; replace /spec/selector/matchLabels/a "2"`, false},
		{`replace /spec/paused false; add /spec/selector {"matchLabels":{"a":"1"}}`, true},
		{`replace /spec {"replicas":1}; replace /spec/template/metadata/name "a"`, false},
		{`add /metadata/labels/b~1c~0d "2"; remove /metadata/labels/a`, true},
		{`remove /metadata/labels/b`, false},
		{`remove /metadata/labels/a; add /metadata/labels/b "2"`, false},
		{`add /metadata/annotations/a "1"`, false},
		{`add /metadata/finalizers/- "y"; add /metadata/finalizers/0 "w"; remove /metadata/finalizers/1`, true},
		{`remove /metadata/finalizers/0`, true},
		{`remove /metadata/finalizers/1`, false},
		{`add /metadata/finalizers/2 "y"`, false},
		{`add /metadata/finalizers/-1 "y"`, false},
		{`add /metadata/finalizers/00 "y"`, false},
		{`test /spec/template/spec/containers/0/image "x:1"; replace /spec/template/spec/containers/0/image "z"`, true},
		{`replace /spec/template/spec/containers/1/image "z"; test /spec/template/spec/containers/1/image "z"`, false},
		{`replace /spec/template/spec/containers/1/image "\u007a"; test /spec/template/spec/containers/1/image "z"`, false},
		{`replace /spec/replicas -0; test /spec/replicas 0`, false},
		{`replace /spec/template/spec/containers/0/image "z"; add /spec/template/spec/containers/1 {"name":"z"}`, true},
		{`replace /spec/template/spec/containers/0 {"name":"w"}`, true},
		{`remove /spec/template/spec/containers/0; remove /spec/template/spec/containers/0`, true},
		{`test /spec/replicas 1; test /spec/paused true; test /metadata/labels/a "1"; test /metadata/finalizers/0 "x"`, true},
		{`test /spec/replicas 2`, false},
		{`test /spec/minReadySeconds 0`, false},
		{`test /spec/template/spec/containers/1/image "<y>"`, false},
		{`test /metadata/labels {"a":"1"}`, false},
		{`test /spec/template/spec/containers/0/resources/limits/cpu "1"`, true},
		{`test /spec/template/spec/containers/0/resources/limits/cpu "1000m"`, false},
		{`add /spec/template/spec/containers/0/resources/limits/memory "1000Ki"`, true},
		{`add /spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/- {}`, false},
		{`replace /spec/replicas/x 1`, false},
		{`replace  {"spec":{}}`, false},
		{`replace spec {}`, false},
		{`copy /spec/replicas 1`, false},
		{`replace /spec/replicas`, false},
		{`replace /spec/template/metadata/creationTimestamp "2026-01-01T00:00:00Z"; replace /spec/template/metadata/creationTimestamp/x 1`, false},
	} {
		var operations []typedjson.Operation
		for one := range strings.SplitSeq(tt.operations, "; ") {
			fields := append(strings.SplitN(one, " ", 3), "")
			op := typedjson.Operation{Op: fields[0], Path: fields[1]}
			if fields[2] != "" {
				op.Value = []byte(fields[2])
			}
			operations = append(operations, op)
		}
		want, err := patchedByLibrary(reflect.TypeFor[appsv1.Deployment](), current, operations)
		got := &appsv1.Deployment{}
		require.NoError(t, json.Unmarshal(current, got))
		var types typedjson.Types
		ok := types.NewType(reflect.TypeFor[appsv1.Deployment]()).ApplyOperations(operations, got)
		require.Equal(t, tt.supported, ok, tt.operations)
		if ok {
			require.NoError(t, err, tt.operations)
			require.True(t, reflect.DeepEqual(want, got), "%s\n%s", tt.operations, cmp.Diff(want, got))
		}
	}
}
