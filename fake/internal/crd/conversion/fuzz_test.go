package conversion

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// For any response, the result is an error or the same object in the requested version.
func FuzzResponse(f *testing.F) {
	const good = `{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"ConversionReview","response":{"result":{"status":"Success"},"convertedObjects":[` +
		`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"a","namespace":"default","uid":"uid-of-a"}}]}}`
	for _, response := range []string{
		good, "", "null", "[]", "{}", "hello", good[:len(good)/2],
		strings.Replace(good, `"kind":"Widget"`, `"kind":"WidgetList","items":[]`, 1),
		strings.Replace(good, `"metadata":{`, `"metadata":{"labels":{"a":null},`, 1),
		strings.Replace(good, `"metadata":{`, `"metadata":{"annotations":[1],`, 1),
		strings.Replace(good, `[{`, `[null,{`, 1),
		strings.Replace(good, `"status":"Success"`, `"status":1`, 1),
	} {
		f.Add(response)
	}
	responses := make(chan string, 1)
	client, dial := startInMemory(f, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(<-responses)) }))
	c := newConverter(f, newCRD(client, "v1beta1"), dial, nil)
	responses <- good
	_, err := convertOne(f, c, newWidget(v1, "a"), "v2")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, response string) {
		responses <- response
		old := newWidget(v1, "a")
		got, err := convertOne(t, c, old, "v2")
		require.Equal(t, newWidget(v1, "a"), old)
		if err != nil {
			return
		}
		require.Equal(t, "Widget", got.GetKind())
		require.Equal(t, v2, got.GetAPIVersion())
		require.Equal(t, "a default uid-of-a 7", got.GetName()+" "+got.GetNamespace()+" "+string(got.GetUID())+" "+got.GetResourceVersion())
	})
}
