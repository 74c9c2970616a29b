package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fakeapi "example.com/fakeapi/fake"
)

// gadgetWatch reads a watch of Gadgets.
type gadgetWatch struct {
	body    io.ReadCloser
	decoder *json.Decoder
}

func watchGadgets(t *testing.T, srv *fakeapi.Server, path string) *gadgetWatch {
	t.Helper()
	resp := openWatch(t, t.Context(), srv, path)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return &gadgetWatch{resp.Body, json.NewDecoder(resp.Body)}
}

// next returns the type of the next event with the name of its object and its size or width, or the
// message of an error, or "EOF" at the end.
func (w *gadgetWatch) next(t *testing.T) string {
	t.Helper()
	var event struct {
		Type   string
		Object unstructured.Unstructured
	}
	if err := w.decoder.Decode(&event); err == io.EOF {
		return "EOF"
	} else {
		require.NoError(t, err)
	}
	if event.Type == "ERROR" {
		return fmt.Sprint("ERROR ", event.Object.Object["message"])
	}
	spec, _ := event.Object.Object["spec"].(map[string]any)
	measure := spec["width"]
	if measure == nil {
		measure = spec["size"]
	}
	return fmt.Sprint(event.Type, " ", event.Object.GetName(), " ", measure)
}
