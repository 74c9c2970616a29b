package fakeapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// Annotations that were fields of the spec before apps/v1 have to be numbers. How a request with
// another value fails depends on where a real server converts the object.
func TestConversionErrors(t *testing.T) {
	const path = "/apis/apps/v1/namespaces/default/daemonsets"
	const annotations = `"annotations":{"deprecated.daemonset.template.generation":"x"}`
	const patch = `{"metadata":{` + annotations + `}}`
	const config = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"there",` + annotations + `}}`
	const invalid = `strconv.ParseInt: parsing "x": invalid syntax`
	const handled = `DaemonSet in version "v1" cannot be handled as a DaemonSet: ` + invalid
	srv := fakeapi.Start(t, fakeapi.WithoutControllers(), fakeapi.WithYAML(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: there, namespace: default}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
`))
	for _, test := range []struct {
		name, method, path, contentType, body string
		code                                  int
		reason                                metav1.StatusReason
		message                               string // a part of it
	}{
		{"POST", "POST", path, "application/json", `{"metadata":{"name":"new",` + annotations + `}}`, 400, "BadRequest", handled},
		{"PUT", "PUT", path + "/there", "application/json", config, 400, "BadRequest", handled},
		{"PUT of the status", "PUT", path + "/there/status", "application/json", config, 400, "BadRequest", handled},
		{"merge patch", "PATCH", path + "/there", "application/merge-patch+json", patch, 422, "Invalid", `\"there\"`},
		{"JSON patch", "PATCH", path + "/there", "application/json-patch+json",
			`[{"op":"add","path":"/metadata/annotations/deprecated.daemonset.template.generation","value":"x"}]`, 422, "Invalid", `": ` + invalid},
		{"strategic merge patch", "PATCH", path + "/there", "application/strategic-merge-patch+json", patch, 500, "", invalid},
		{"apply", "PATCH", path + "/there?force=true&fieldManager=m", "application/apply-patch+yaml", config, 500, "",
			"failed to convert to unversioned (/there; apps/v1, Kind=DaemonSet): " + invalid},
		{"apply that creates", "PATCH", path + "/new?fieldManager=m", "application/apply-patch+yaml", config, 500, "",
			"failed to convert to unversioned (/there; apps/v1, Kind=DaemonSet): " + invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, _, body := send(t, srv, test.method, test.path, test.contentType, []byte(test.body))
			require.Equal(t, test.code, code, "%s", body)
			var s metav1.Status
			require.NoError(t, json.Unmarshal(body, &s), "%s", body)
			require.Equal(t, test.reason, s.Reason)
			require.Contains(t, s.Message, test.message)
		})
	}
}
