package structural

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// recordedCase is a case in testdata/cases.yaml.
type recordedCase struct {
	Name         string
	Root, Schema *apiextensionsv1.JSONSchemaProps
	Subresources *apiextensionsv1.CustomResourceSubresources
	Steps        []map[string]json.RawMessage
}

// recordedResponse is the response of a real v0.37.2 server to a step.
type recordedResponse struct {
	Code    int                  `json:"code"`
	Message string               `json:"message,omitempty"`
	Causes  []metav1.StatusCause `json:"causes,omitempty"`
	Object  json.RawMessage      `json:"object,omitempty"`
}

func TestRecorded(t *testing.T) {
	for _, c := range loadRecordedCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			p := &fakeServer{definition: newProbeCRD(c)}
			p.setSchema(t, c.root())
			for i, step := range c.Steps {
				for verb, sent := range step {
					want := c.responses[i]
					got := p.step(t, i, verb, sent)
					if diff := cmp.Diff(normalize(t, want), normalize(t, got)); diff != "" {
						t.Errorf("step %d, %s %s: -real +ours\n%s", i, verb, sent, diff)
					}
				}
			}
		})
	}
}

type recordedCaseWithResponses struct {
	recordedCase
	responses []recordedResponse
}

func loadRecordedCases(t *testing.T) (all []recordedCaseWithResponses) {
	var cases []recordedCase
	data, err := testdata.ReadFile("testdata/cases.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(data, &cases))
	var responses map[string][]recordedResponse
	data, err = testdata.ReadFile("testdata/responses.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &responses))
	for _, c := range cases {
		require.Len(t, responses[c.Name], len(c.Steps), c.Name)
		all = append(all, recordedCaseWithResponses{c, responses[c.Name]})
	}
	return all
}

// root returns the schema of a case. Most cases specify that of the spec only.
func (c recordedCase) root() *apiextensionsv1.JSONSchemaProps {
	if c.Root != nil {
		return c.Root
	}
	return schemaWithSpec(c.Schema)
}

func schemaWithSpec(spec *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	preserve := true
	return &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"spec":   *spec,
		"status": {Type: "object", XPreserveUnknownFields: &preserve},
	}}
}

func newProbeCRD(c recordedCaseWithResponses) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "probes.probe.example.com"
	crd.Spec.Group = "probe.example.com"
	crd.Spec.Names.Kind = "Probe"
	crd.Spec.Scope = apiextensionsv1.ClusterScoped
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Subresources: c.Subresources}}
	return crd
}

// fakeServer handles requests for one object with a Schema as a server does.
type fakeServer struct {
	definition *apiextensionsv1.CustomResourceDefinition
	s          *Schema
	stored     *unstructured.Unstructured
}

func (p *fakeServer) setSchema(t *testing.T, root *apiextensionsv1.JSONSchemaProps) {
	p.definition.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root}
	var err error
	p.s, err = New(p.definition, "v1")
	require.NoError(t, err)
}

func (p *fakeServer) step(t *testing.T, n int, verb string, sent json.RawMessage) recordedResponse {
	switch verb {
	case "create", "whole", "strict":
		obj := map[string]any{}
		if verb == "create" {
			obj["spec"] = decode[any](t, sent)
		} else {
			obj = decode[map[string]any](t, sent)
		}
		return p.create(t, obj, "o"+strconv.Itoa(n), verb == "strict")
	case "update", "status":
		return p.update(t, verb == "status", decode[any](t, sent))
	case "schema":
		props := decodeInto[apiextensionsv1.JSONSchemaProps](t, sent)
		p.setSchema(t, schemaWithSpec(&props))
		return recordedResponse{Code: http.StatusOK}
	case "get":
		return newResponse(http.StatusOK, p.read(t))
	}
	require.Fail(t, "no such step", verb)
	return recordedResponse{}
}

// create prunes and validates a new object.
func (p *fakeServer) create(t *testing.T, obj map[string]any, name string, strict bool) recordedResponse {
	obj["apiVersion"], obj["kind"] = "probe.example.com/v1", "Probe"
	if obj["metadata"] == nil {
		obj["metadata"] = map[string]any{}
	}
	obj["metadata"].(map[string]any)["name"] = name
	unknown, err := p.s.PruneAndDefault(obj, strict)
	if err != nil {
		return newFailure(http.StatusBadRequest, `Probe in version "v1" cannot be handled as a Probe: `+err.Error())
	}
	if len(unknown) > 0 {
		return newFailure(http.StatusBadRequest, `Probe in version "v1" cannot be handled as a Probe: strict decoding error: `+strings.Join(unknown, ", "))
	}
	u := &unstructured.Unstructured{Object: obj}
	if p.definition.Spec.Versions[0].Subresources != nil {
		delete(obj, "status")
	}
	u.SetGeneration(1)
	meta := validation.ValidateObjectMetaAccessor(u, false, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if errs := p.s.Validate(t.Context(), u, meta...); len(errs) > 0 {
		return newInvalid(u.GetName(), errs)
	}
	p.stored = u
	return newResponse(http.StatusCreated, u)
}

// update prunes and validates a changed spec or status of the stored object.
func (p *fakeServer) update(t *testing.T, status bool, part any) recordedResponse {
	old := p.read(t)
	u := old.DeepCopy()
	name := "spec"
	if status {
		name = "status"
	}
	u.Object[name] = part
	if _, err := p.s.PruneAndDefault(u.Object, false); err != nil {
		return newFailure(http.StatusBadRequest, err.Error())
	}
	var errs field.ErrorList
	if status {
		errs = p.s.ValidateStatusUpdate(t.Context(), u, old)
	} else {
		errs = p.s.ValidateUpdate(t.Context(), u, old)
	}
	if len(errs) > 0 {
		return newInvalid(u.GetName(), errs)
	}
	if !status && !cmp.Equal(u.Object["spec"], old.Object["spec"]) {
		u.SetGeneration(old.GetGeneration() + 1)
	}
	p.stored = u
	return newResponse(http.StatusOK, u)
}

// read returns the stored object.
func (p *fakeServer) read(t *testing.T) *unstructured.Unstructured {
	require.NotNil(t, p.stored, "no object was created")
	u := p.stored.DeepCopy()
	p.s.DefaultStored(u.Object)
	return u
}

func decode[T any](t *testing.T, data []byte) (out T) {
	require.NoError(t, utiljson.Unmarshal(data, &out))
	return out
}

func decodeInto[T any](t *testing.T, data []byte) (out T) {
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

func newResponse(code int, u *unstructured.Unstructured) recordedResponse {
	obj := runtime.DeepCopyJSON(u.Object)
	delete(obj, "apiVersion")
	delete(obj, "kind")
	data, err := json.Marshal(obj)
	if err != nil {
		return newFailure(http.StatusInternalServerError, err.Error())
	}
	return recordedResponse{Code: code, Object: data}
}

func newFailure(code int, message string) recordedResponse {
	return recordedResponse{Code: code, Message: message}
}

func newInvalid(name string, errs field.ErrorList) recordedResponse {
	status := apierrors.NewInvalid(schema.GroupKind{Group: "probe.example.com", Kind: "Probe"}, name, errs).Status()
	return recordedResponse{Code: int(status.Code), Message: status.Message, Causes: status.Details.Causes}
}

// normalize returns a form of a response that ignores the order of the causes, which is random on a
// real server, and the formatting of JSON.
func normalize(t *testing.T, a recordedResponse) map[string]any {
	out := map[string]any{"code": a.Code, "message": a.Message}
	if len(a.Causes) > 1 {
		out["message"] = ""
		prefix, list, ok := strings.Cut(a.Message, "[")
		require.True(t, ok || len(a.Message) > 0, a.Message)
		if ok && strings.HasSuffix(prefix, "is invalid: ") {
			out["message"] = prefix
			letters := strings.Split(list, "")
			slices.Sort(letters)
			out["letters"] = strings.Join(letters, "")
		}
	}
	slices.SortFunc(a.Causes, func(x, y metav1.StatusCause) int { return strings.Compare(x.Field+x.Message, y.Field+y.Message) })
	out["causes"] = a.Causes
	if a.Object != nil {
		out["object"] = decode[any](t, a.Object)
	}
	return out
}
