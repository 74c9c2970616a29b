package rbaccases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// startServer starts a server that authorizes by roles and has the namespaces of the cases.
func startServer(t *testing.T) *fakeapi.Server {
	return fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
	))
}

// collections returns the paths of the collections, by apiVersion and kind. A path has the format
// %s instead of a namespace.
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
			path := root + "/" + r.Name
			if r.Namespaced {
				path = root + "/namespaces/%s/" + r.Name
			}
			if key := [2]string{list.GroupVersion, r.Kind}; paths[key] == "" { // a subresource is after its resource
				paths[key] = path
			}
		}
	}
	return paths
}

// player plays a case.
type player struct {
	srv   *fakeapi.Server
	paths map[[2]string]string
}

func (p *player) play(t *testing.T, c *testCase) {
	for i, object := range c.Setup {
		require.NoError(t, p.create(object), "setup %d", i+1)
	}
	for i := range c.Requests {
		r := &c.Requests[i]
		difference := p.send(t, r)
		for deadline := time.Now().Add(10 * time.Second); r.Until && difference != "" && time.Now().Before(deadline); {
			time.Sleep(100 * time.Millisecond)
			difference = p.send(t, r)
		}
		require.Empty(t, difference, "request %d: %s", i+1, r.Do)
	}
}

// create creates an object of setup.
func (p *player) create(object json.RawMessage) error {
	var header metav1.PartialObjectMetadata
	if err := json.Unmarshal(object, &header); err != nil {
		return err
	}
	path, ok := p.paths[[2]string{header.APIVersion, header.Kind}]
	if !ok {
		return fmt.Errorf("%s of %s is not served", header.Kind, header.APIVersion)
	}
	if strings.Contains(path, "%s") {
		at := header.Namespace
		if at == "" {
			at = namespace
		}
		path = fmt.Sprintf(path, at)
	}
	got, err := p.do(&request{Do: "POST " + path, Body: object}, "")
	if err == nil && got.code != http.StatusCreated {
		err = fmt.Errorf("%d: %s", got.code, got.body)
	}
	return err
}

// send sends a request and returns how the response differs from what it wants, or "".
func (p *player) send(t *testing.T, r *request) string {
	token := ""
	if r.As != nil && r.As.Token != "" {
		token = p.token(t, r.As.Token)
	}
	got, err := p.do(r, token)
	require.NoError(t, err)
	return r.compare(got)
}

// token returns a token of a ServiceAccount.
func (p *player) token(t *testing.T, account string) string {
	got, err := p.do(&request{
		Do:   "POST /api/v1/namespaces/" + namespace + "/serviceaccounts/" + account + "/token",
		Body: json.RawMessage(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`),
	}, "")
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, got.code, "%s", got.body)
	var created struct{ Status struct{ Token string } }
	require.NoError(t, json.Unmarshal(got.body, &created))
	return created.Status.Token
}

// do sends a request with a token, or as the administrator without one. A watch that is allowed is
// ended.
func (p *player) do(r *request, token string) (response, error) {
	method, path, _ := strings.Cut(r.Do, " ")
	req, err := http.NewRequest(method, p.srv.URL()+path, bytes.NewReader(r.Body))
	if err != nil {
		return response{}, err
	}
	req.Header.Set("Accept", "application/json")
	if len(r.Body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", contentTypes()[r.Type])
	}
	client := p.srv.Client()
	if token != "" {
		if client, err = rest.HTTPClientFor(p.srv.RESTConfigWithToken(token)); err != nil {
			return response{}, err
		}
	}
	if r.As != nil {
		r.As.setHeaders(req.Header)
	}
	resp, err := client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if isWatch := strings.Contains(path, "watch=") || strings.Contains(path, "/watch/"); isWatch && resp.StatusCode == http.StatusOK {
		return response{code: resp.StatusCode}, nil
	}
	body, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, body}, err
}

// setHeaders sets the headers of impersonation.
func (u *identity) setHeaders(h http.Header) {
	if u.User != "" {
		h.Set("Impersonate-User", u.User)
	}
	if u.UID != "" {
		h.Set("Impersonate-Uid", u.UID)
	}
	h["Impersonate-Group"] = u.Groups
	for key, values := range u.Extra {
		for _, value := range values {
			h.Add("Impersonate-Extra-"+url.PathEscape(key), value)
		}
	}
}
