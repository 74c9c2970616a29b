package kubectl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

func TestGetNotFound(t *testing.T) {
	u := newUser(t)
	require.Equal(t, "Error from server (NotFound): configmaps \"nope\" not found\n", u.doRefused("get", "configmap", "nope"))
	require.Equal(t, "Error from server (NotFound): deployments.apps \"nope\" not found\n", u.doRefused("get", "deployment", "nope"))
	require.Equal(t, "Error from server (NotFound): namespaces \"nope\" not found\n", u.doRefused("get", "ns", "nope"))
	require.Equal(t, "error: the server doesn't have a resource type \"widgets\"\n", u.doRefused("get", "widgets"))
	require.Equal(t, "Error from server (NotFound): the server could not find the requested resource\n", u.doRefused("get", "--raw", "/apis/nope"))
}

func TestGetWithAFieldSelectorThatIsNotServed(t *testing.T) {
	u := newUser(t)
	require.Equal(t, `Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", `+
		"field selector \"spec.foo=x\": field label not supported: spec.foo\n",
		u.doRefused("get", "pods", "--field-selector", "spec.foo=x"))
}

// kubectl requests strict validation by default, which the server performs.
func TestApplyInvalidManifest(t *testing.T) {
	u := newUser(t, fakeapi.WithoutSystemObjects())
	for name, tt := range map[string]struct{ manifest, want string }{
		"unknown field": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndta: {k: v}\n",
			`Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled ` +
				`as a ConfigMap: strict decoding error: unknown field "dta"`,
		},
		"unknown fields deep inside": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a, lables: {}}\n" +
				"spec: {containers: [{name: c, image: i, comand: [x]}]}\n",
			`Error from server (BadRequest): error when creating "STDIN": Pod in version "v1" cannot be handled ` +
				`as a Pod: strict decoding error: unknown field "metadata.lables", unknown field "spec.containers[0].comand"`,
		},
		"wrong type": {
			"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: many}]}\n",
			`Error from server (BadRequest): error when creating "STDIN": Service in version "v1" cannot be handled ` +
				`as a Service: json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32`,
		},
		"invalid name": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name}\n",
			`The ConfigMap "Not_A_Name" is invalid: metadata.name: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain ` +
				`must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character ` +
				`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		},
		"unknown kind": {
			"apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n",
			`error: resource mapping not found for name: "w" namespace: "" from "STDIN": no matches for kind "Widget" ` +
				`in version "example.com/v1"` + "\nensure CRDs are installed first",
		},
		"no such namespace": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}\n",
			`Error from server (NotFound): error when creating "STDIN": namespaces "nowhere" not found`,
		},
		"no name": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
			`error: error when retrieving current configuration of:` + "\n" +
				`Resource: "/v1, Resource=configmaps", GroupVersionKind: "/v1, Kind=ConfigMap"` + "\n" +
				`Name: "", Namespace: "default"` + "\n" + `from server for: "STDIN": resource name may not be empty`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want+"\n", u.doRefusedWith(tt.manifest, "apply", "-f", "-"))
		})
	}
	require.Equal(t, result{err: "No resources found in default namespace.\n"}, u.try("get", "all,configmaps"))
}

func TestApplyWithWarnings(t *testing.T) {
	u := newUser(t)
	typo := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndta: {k: v}\n"
	require.Equal(t, result{out: "configmap/a created\n", err: "Warning: unknown field \"dta\"\n"},
		u.tryWith(typo, "apply", "-f", "-", "--validate=warn"))
}

// After an invalid document, apply continues with the other documents.
func TestApplyContinuesAfterError(t *testing.T) {
	u := newUser(t)
	three := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: B}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	r := u.tryWith(three, "apply", "-f", "-")
	require.Equal(t, 1, r.code)
	require.Equal(t, "configmap/a created\nconfigmap/c created\n", r.out)
	require.Regexp(t, `^The ConfigMap "B" is invalid: metadata.name: Invalid value: "B": [^\n]+\n$`, r.err)
}

func TestPatchConflict(t *testing.T) {
	u := newUser(t)
	u.do("create", "configmap", "a", "--from-literal=k=v")
	require.Equal(t, "The request is invalid: the server rejected our request due to an error in our request\n",
		u.doRefused("patch", "configmap", "a", "--type=json", "-p", `[{"op":"test","path":"/data/k","value":"no"}]`))
	require.Equal(t, "Error from server (BadRequest): the name of the object (b) does not match the name on the URL (a)\n",
		u.doRefused("patch", "configmap", "a", "-p", `{"metadata":{"name":"b"}}`))
	require.Equal(t, result{out: "configmap/a patched (no change)\n", err: "Warning: unknown field \"dta\"\n"},
		u.try("patch", "configmap", "a", "--type=merge", "-p", `{"dta":1}`))
}
