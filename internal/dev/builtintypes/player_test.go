package builtintypes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	fakeapi "example.com/fakeapi/fake"
)

// namespace and id are the values of $ns and $id. Each case has its own server.
const (
	namespace = "case-x1y2z3"
	id        = "x1y2z3"
)

const (
	jsonType       = "application/json"
	mergePatchType = "application/merge-patch+json"
)

// startServer starts a server without controllers that has the namespace of the cases with the
// ServiceAccount that pods use.
func startServer(t *testing.T) *fakeapi.Server {
	return fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithAdmissionPlugins("ServiceAccount"), fakeapi.WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}},
	))
}

// collections returns the paths of the collections, by apiVersion and kind.
func collections(t *testing.T) map[[2]string]string {
	client, err := discovery.NewDiscoveryClientForConfig(startServer(t).RESTConfig())
	require.NoError(t, err)
	_, lists, err := client.ServerGroupsAndResources()
	require.NoError(t, err)
	paths := map[[2]string]string{}
	for _, list := range lists {
		root := "/apis/" + list.GroupVersion
		if list.GroupVersion == "v1" {
			root = "/api/v1"
		}
		for _, r := range list.APIResources {
			path := root
			if r.Namespaced {
				path += "/namespaces/" + namespace
			}
			if key := [2]string{list.GroupVersion, r.Kind}; paths[key] == "" { // a subresource is after its resource
				paths[key] = path + "/" + r.Name
			}
		}
	}
	return paths
}

// player plays a case.
type player struct {
	server *fakeapi.Server
	// paths is the result of collections.
	paths   map[[2]string]string
	symbols symbols
	// fillVersions gives updates the name and the current resourceVersion of the object.
	fillVersions bool
	// kind and name are those of the object that the steps are about, and path is its path.
	kind, name, path string
}

// play plays a case and returns how the server differs from it.
func (p *player) play(c testCase) (differences []string) {
	for i, body := range c.Setup {
		if problems := p.create(body, expectation{}); len(problems) > 0 {
			return append([]string{fmt.Sprintf("setup %d:", i+1)}, problems...)
		}
	}
	differences = p.create(c.Create, c.expectation)
	for i, s := range c.Steps {
		if p.path == "" {
			return differences // nothing was created
		}
		for _, difference := range p.step(s) {
			differences = append(differences, fmt.Sprintf("step %d: %s", i+1, difference))
		}
	}
	return differences
}

// create creates an object, which the following steps are about if it is accepted.
func (p *player) create(body object, want expectation) []string {
	resolved, err := p.symbols.resolve(body)
	if err != nil {
		return []string{err.Error()}
	}
	kind := resolved.(object)["kind"].(string)
	collection := p.paths[[2]string{resolved.(object)["apiVersion"].(string), kind}]
	if collection == "" {
		return []string{kind + " is not served"}
	}
	code, response, err := p.send(http.MethodPost, collection, jsonType, resolved)
	if err == nil && code < 300 {
		p.kind = kind
		p.name, _ = lookup(response, []string{"metadata", "name"}).(string)
		p.path = collection + "/" + p.name
	}
	return p.check(code, response, err, want, true)
}

func (p *player) step(s step) []string {
	var method, path, contentType string
	var body any
	stored := true
	switch {
	case s.Create != nil:
		return p.create(s.Create, s.expectation)
	case s.Update != nil:
		method, path, contentType, body = http.MethodPut, p.path, jsonType, s.Update
	case s.Patch != nil:
		method, path, contentType, body = http.MethodPatch, p.path, mergePatchType, s.Patch
		if s.Sub != "" {
			path += "/" + s.Sub
		}
	case s.PatchStatus != nil:
		method, path, contentType, body = http.MethodPatch, p.path+"/status", mergePatchType, s.PatchStatus
	case s.Delete:
		method, path, stored = http.MethodDelete, p.path+"?gracePeriodSeconds=0&propagationPolicy=Background", false
	default:
		method, path, stored = http.MethodGet, p.paths[[2]string{s.Read, p.kind}]+"/"+p.name, false
	}
	resolved, err := p.symbols.resolve(body)
	if err != nil {
		return []string{err.Error()}
	}
	if s.Update != nil && p.fillVersions {
		if err := p.fillVersion(resolved.(object)); err != nil {
			return []string{err.Error()}
		}
	}
	code, response, err := p.send(method, path, contentType, resolved)
	return p.check(code, response, err, s.expectation, stored)
}

// fillVersion sets the name and the resourceVersion of the body of an update.
func (p *player) fillVersion(body object) error {
	_, current, err := p.send(http.MethodGet, p.path, "", nil)
	if err != nil {
		return err
	}
	meta, ok := body["metadata"].(object)
	if !ok {
		meta = object{}
		body["metadata"] = meta
	}
	meta["name"], meta["resourceVersion"] = p.name, lookup(current, []string{"metadata", "resourceVersion"})
	return nil
}

// check compares a response with an expectation, and also the stored object if stored is set and
// the request succeeded.
func (p *player) check(code int, response object, err error, want expectation, stored bool) []string {
	if err != nil {
		return []string{err.Error()}
	}
	if want.Code != code && (want.Code != 0 || code > 299) {
		return []string{fmt.Sprintf("code %d, want %d: %v", code, want.Code, response["message"])}
	}
	if code > 299 {
		return append(p.symbols.compareStatus(want, response), p.symbols.compare(want, response)...)
	}
	differences := p.symbols.compare(want, response)
	if !stored || len(differences) > 0 {
		return differences
	}
	code, object, err := p.send(http.MethodGet, p.path, "", nil)
	if err != nil || code != http.StatusOK {
		return []string{fmt.Sprintf("GET: code %d, %v", code, err)}
	}
	for _, difference := range p.symbols.compare(want, object) {
		differences = append(differences, "GET: "+difference)
	}
	return differences
}

// send sends a request and returns the code and the object of the response.
func (p *player) send(method, path, contentType string, body any) (int, object, error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(data)
	}
	request, err := http.NewRequest(method, p.server.URL()+path, reader)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := p.server.Client().Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var obj object
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber()
	err = decoder.Decode(&obj)
	return response.StatusCode, obj, err
}

// setUser sets $user to the name of the user that the requests come from.
func (p *player) setUser() error {
	_, review, err := p.send(http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", jsonType,
		object{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
	p.symbols["$user"] = lookup(review, []string{"status", "userInfo", "username"})
	return err
}
