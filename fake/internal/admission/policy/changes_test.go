package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"example.com/fakeapi/fake/internal/admission"
)

func TestChanges(t *testing.T) {
	long := strings.Repeat("ä", 200)
	for name, c := range map[string]struct {
		before, after string
		want          []admission.Change
	}{
		"none":    {`{"a":{"b":[1,{"c":null}]}}`, `{"a":{"b":[1,{"c":null}]}}`, nil},
		"scalar":  {`{"a":{"b":1}}`, `{"a":{"b":"1"}}`, []admission.Change{{Op: "replace", Path: "/a/b", Value: `"1"`}}},
		"type":    {`{"a":{"b":1}}`, `{"a":[1]}`, []admission.Change{{Op: "replace", Path: "/a", Value: `[1]`}}},
		"fields":  {`{"b":1,"c":1}`, `{"a":{"x":1},"c":null}`, []admission.Change{{Op: "add", Path: "/a", Value: `{"x":1}`}, {Op: "remove", Path: "/b"}, {Op: "replace", Path: "/c", Value: "null"}}},
		"escaped": {`{}`, `{"a/b~c":1}`, []admission.Change{{Op: "add", Path: "/a~1b~0c", Value: "1"}}},
		"first item": {
			`{"l":[{"n":"b"},{"n":"c"}]}`, `{"l":[{"n":"a"},{"n":"b"},{"n":"c"}]}`,
			[]admission.Change{{Op: "add", Path: "/l/0", Value: `{"n":"a"}`}},
		},
		"last items":   {`{"l":[1]}`, `{"l":[1,2,3]}`, []admission.Change{{Op: "add", Path: "/l/1", Value: "2"}, {Op: "add", Path: "/l/2", Value: "3"}}},
		"removed":      {`{"l":[1,2,3,4]}`, `{"l":[1,4]}`, []admission.Change{{Op: "remove", Path: "/l/2"}, {Op: "remove", Path: "/l/1"}}},
		"changed item": {`{"l":[1,{"n":1},3]}`, `{"l":[1,{"n":2},3]}`, []admission.Change{{Op: "replace", Path: "/l/1/n", Value: "2"}}},
		"long":         {`{}`, `{"a":"` + long + `"}`, []admission.Change{{Op: "add", Path: "/a", Value: `"` + strings.Repeat("ä", 99) + "..."}}},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := &unstructured.Unstructured{}, &unstructured.Unstructured{}
			require.NoError(t, json.Unmarshal([]byte(c.before), &before.Object))
			require.NoError(t, json.Unmarshal([]byte(c.after), &after.Object))
			require.Equal(t, c.want, changes(before, after))
		})
	}
}
