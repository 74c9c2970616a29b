package codec

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	kindjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/jsonvalue"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/webhookclient"
)

// The kind of a decoded object is that which the library decodes from its JSON. decodedKind leaves
// what is not usual to the library.
func TestDecodedKind(t *testing.T) {
	const usual = true
	library := kindjson.NewSerializerWithOptions(kindjson.DefaultMetaFactory, unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper(), kindjson.SerializerOptions{})
	for body, want := range map[string]bool{
		`{"apiVersion":"example.com/v1","kind":"Widget"}`:                               usual,
		`{"apiVersion":"v1","kind":"Widget","metadata":{"Kind":"x"}}`:                   usual,
		`{"kind":"Other","apiVersion":"v1","kind":"Widget"}`:                            usual,
		`{"kinds":"x","apiVersion":"v1","kind":"Widget"}`:                               usual,
		`{"Kind":"Other","apiVersion":"v1","kind":"Widget"}`:                            !usual,
		`{"apiVersion":"v1","kind":"Widget","APIversion":"v2"}`:                         !usual,
		`{"apiversion":"v1","kind":"Widget"}`:                                           !usual,
		`{"apiVersion":"v1","Kind":"Widget"}`:                                           !usual,
		"{\"apiVersion\":\"v1\",\"kind\":\"Widget\",\"\u212aind\":\"the Kelvin sign\"}": !usual,
		`{"apiVersion":"v1"}`:                                                           !usual,
		`{"apiVersion":"v1","kind":""}`:                                                 !usual,
		`{"kind":"Widget"}`:                                                             !usual,
		`{"apiVersion":"v1","kind":1}`:                                                  !usual,
		`{"apiVersion":"v1","kind":null}`:                                               !usual,
		`{"apiVersion":null,"kind":"Widget"}`:                                           !usual,
		`{"apiVersion":"a/b/c","kind":"Widget"}`:                                        !usual,
		`{"apiVersion":"/v1","kind":"Widget"}`:                                          usual,
		`{"apiVersion":"v1","kind":"Widget\ud800"}`:                                     usual,
		`{}`: !usual,
	} {
		object, err := jsonvalue.Decode([]byte(body))
		require.NoError(t, err, body)
		got, ok := decodedKind(object)
		require.Equal(t, want, ok, body)
		_, decoded, err := library.Decode([]byte(body), nil, &unstructured.Unstructured{})
		if ok {
			require.NoError(t, err, body)
			require.Equal(t, decoded, got, body)
			continue
		}
		got, gotErr := kindOf(object, []byte(body))
		require.Equal(t, decoded, got, body)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(gotErr), body)
	}
}

// newWidgets returns the resource of the definition in the tests of package structural.
func newWidgets(t *testing.T) *resource.Resource {
	data, err := os.ReadFile("../crd/structural/testdata/widgets.yaml")
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict(data, crd))
	crd.Status.AcceptedNames = crd.Spec.Names
	d, err := versions.New(t.Context(), crd, 1, webhookclient.Network{})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	_, stored := resource.ForCRD(d)
	return stored
}

// TryPatched returns what is decoded from the JSON of an object, without warnings.
func TestTryPatched(t *testing.T) {
	widgets := newWidgets(t)
	const complete = true
	for text, want := range map[string]bool{
		`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"color":"red","replicas":1,"tags":["x"]}}`:   complete,
		`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"}}`:                                                    complete,
		`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":"wrong","color":"red","replicas":1}}`: complete,
		`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{}}`:                                          !complete,
		`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"},"unknown":1}`:                                        !complete,
		`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":1}}`:                                                      !complete,
		`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"labels":{}}}`:                                                   !complete,
		`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":null}`:                                                            !complete,
		`{"apiVersion":"oracle.example.com/v2","kind":"Widget","metadata":{"name":"a"}}`:                                                    !complete,
		`{"apiVersion":"oracle.example.com/v1","kind":"Other","metadata":{"name":"a"}}`:                                                     !complete,
		`{"apiVersion":"oracle.example.com/v1","metadata":{"name":"a"}}`:                                                                    !complete,
	} {
		object, err := jsonvalue.Decode([]byte(text))
		require.NoError(t, err)
		got, ok := TryPatched(widgets, object)
		require.Equal(t, want, ok, text)
		if ok {
			decoded, warnings, err := DecodePatched(widgets, []byte(text), "Strict", nil)
			require.NoError(t, err, text)
			require.Empty(t, warnings, text)
			require.Equal(t, decoded, got, text)
		}
	}
}

// Strict decoding errors of a patch come before those of its result.
func TestDecodePatchedWarnings(t *testing.T) {
	widgets := newWidgets(t)
	const result = `{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"},"unknown":1}`
	of := errors.New(`duplicate field "spec"`)
	_, warnings, err := DecodePatched(widgets, []byte(result), "Warn", []error{of})
	require.NoError(t, err)
	require.Equal(t, `[duplicate field "spec" unknown field "unknown"]`, fmt.Sprint(warnings))
	_, _, err = DecodePatched(widgets, []byte(result), "Strict", []error{of})
	require.EqualError(t, err, `strict decoding error: duplicate field "spec", unknown field "unknown"`)
}
