package harness

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
)

// Endpoint is the address of a server, with the HTTP client to use.
type Endpoint struct {
	URL    string
	Client *http.Client
}

// ListResult is a list, or one page of it.
type ListResult struct {
	Objects  []Object
	Revision uint64
	Continue string
}

// List reads a collection. The code is 0 if there was no complete response. An error means that the
// response cannot be decoded.
func (e Endpoint) List(t *testing.T, enc Encoding, path string, query url.Values) (list ListResult, code int, err error) {
	code, body, err := e.Get(t, enc.MediaType, path, query)
	if err != nil {
		return list, 0, nil // a fault broke the response off
	}
	if code != http.StatusOK {
		return list, code, nil
	}
	obj, _, err := enc.Decode(body)
	if err != nil {
		return list, code, err
	}
	m, err := meta.ListAccessor(obj)
	if err != nil {
		return list, code, err
	}
	list.Continue = m.GetContinue()
	if list.Revision, err = strconv.ParseUint(m.GetResourceVersion(), 10, 64); err != nil {
		return list, code, err
	}
	items, err := meta.ExtractList(obj)
	if err != nil {
		return list, code, err
	}
	for _, item := range items {
		o, err := ObjectFrom(item)
		if err != nil {
			return list, code, err
		}
		list.Objects = append(list.Objects, o)
	}
	return list, code, nil
}

// Get sends a GET request and returns the code and the body of the response.
func (e Endpoint) Get(t *testing.T, media, path string, query url.Values) (code int, body []byte, err error) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.URL+path+"?"+query.Encode(), nil)
	require.NoError(t, err)
	r.Header.Set("Accept", media)
	resp, err := e.Client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}
