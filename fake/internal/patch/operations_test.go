package patch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// randomOperations returns a JSON patch, with paths that objects of randomObject have, too.
func randomOperations(r *rand.Rand) string {
	names := []string{"a", "b", "c", "<", "0", "1", "-", "-1", "01", "x", "~0", ""}
	var operations []string
	for range 1 + r.IntN(2) {
		path := ""
		for range 1 + r.IntN(3) {
			path += "/" + names[min(r.IntN(len(names)), r.IntN(len(names)))]
		}
		op := []string{"add", "replace", "remove", "test", "copy"}[min(r.IntN(5), r.IntN(5))]
		operations = append(operations, fmt.Sprintf(`{"op":%q,"path":%q,"from":"/a","value":%s}`, op, path, randomJSON(r, 2)))
	}
	return "[" + strings.Join(operations, ",") + "]"
}

func requireSameOperations(t *testing.T, object, operations string) bool {
	t.Helper()
	return requireSameResult(t, types.JSONPatchType, object, operations)
}

func TestJSONPatchAsLibrary(t *testing.T) {
	supported := 0
	for seed := range uint64(60_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		if requireSameOperations(t, randomObject(r, 3), randomOperations(r)) {
			supported++
		}
	}
	require.Greater(t, supported, 5_000)
}

func TestJSONPatchRules(t *testing.T) {
	const object = `{"a":{"list":["x",{"b":1},null],"s/~":"<","f":1.5,"n":null},"o":{}}`
	for operations, supported := range map[string]bool{
		`[]`: true,
		`[{"op":"add","path":"/a/list/-","value":"y"}]`:                                                       true,
		`[{"op":"add","path":"/a/list/3","value":{"c":[1.0,2,"é"]}}]`:                                         true,
		`[{"op":"add","path":"/a/list/0","value":1},{"op":"remove","path":"/a/list/0"}]`:                      true,
		`[{"op":"replace","path":"/a/list/1/b","value":2},{"op":"add","path":"/a/list/1/c","value":3}]`:       true,
		`[{"op":"add","path":"/o","value":{"x":{}}},{"op":"add","path":"/o/x/y","value":1}]`:                  true,
		`[{"op":"remove","path":"/a/n"}]`:                                                                     true,
		`[{"op":"test","path":"/a/s~1~0","value":"\u003c"},{"op":"remove","path":"/a/s~1~0"}]`:                true,
		`[{"op":"test","path":"/a/list/0","value":"x"},{"op":"remove","path":"/a/list"}]`:                     true,
		`[{"op":"test","path":"/a/f","value":1.50}]`:                                                          false,
		`[{"op":"test","path":"/a/list/0","value":"y"}]`:                                                      false,
		`[{"op":"test","path":"/o","value":{}}]`:                                                              false,
		`[{"op":"remove","path":"/o"},{"op":"test","path":"/a/list/0","value":"x"}]`:                          false,
		`[{"op":"test","path":"/x","value":null}]`:                                                            false,
		`[{"op":"replace","path":"/x","value":1}]`:                                                            false,
		`[{"op":"add","path":"/x/y","value":1}]`:                                                              false,
		`[{"op":"add","path":"/a/n/y","value":1}]`:                                                            false,
		`[{"op":"add","path":"/a/list/4","value":1}]`:                                                         false,
		`[{"op":"add","path":"/a/list/-1","value":1}]`:                                                        false,
		`[{"op":"replace","path":"/a/list/3","value":1}]`:                                                     false,
		`[{"op":"remove","path":"/a/list/00"}]`:                                                               false,
		`[{"op":"remove","path":"/a/list/-"}]`:                                                                false,
		`[{"op":"remove","path":"/x"}]`:                                                                       false,
		`[{"op":"add","path":"/x","value":null}]`:                                                             false,
		`[{"op":"add","path":"/x"}]`:                                                                          false,
		`[{"op":"add","path":"","value":{}}]`:                                                                 false,
		`[{"op":"add","path":"x","value":1}]`:                                                                 false,
		`[{"op":"add","path":"/x","value":{"a":1,"a":2}}]`:                                                    false,
		`[{"op":"copy","from":"/a","path":"/x"}]`:                                                             false,
		`[{"op":"move","from":"/a","path":"/x"}]`:                                                             false,
		`[{"op":"unknown","path":"/a","value":1}]`:                                                            false,
		"[" + strings.Repeat(`{"op":"test","path":"/a/f","value":1.5},`, 64) + `{"op":"remove","path":"/o"}]`: false,
		"[" + strings.Repeat(`{"op":"test","path":"/a/f","value":1.5},`, 63) + `{"op":"remove","path":"/o"}]`: true,
	} {
		require.Equal(t, supported, requireSameOperations(t, object, operations), operations)
	}
}
