package watchguarantees

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// writer sends random writes.
type writer struct {
	*environment
	rng        *rand.Rand
	name       string
	serial     int
	namespace  string // of the current write
	objectName string
}

func (w *writer) run(n int) {
	acts := []func(){w.create, w.create, w.create, w.patch, w.patch, w.patch, w.put, w.put, w.putStale, w.writeNoop, w.createInvalid, w.delete, w.delete, w.deleteOtherUID}
	namespaces, names := namespacesAndNames()
	for range n {
		time.Sleep(time.Duration(w.rng.IntN(30)) * 5 * time.Millisecond) // coarse, so that writes overlap
		w.namespace, w.objectName = namespaces[w.rng.IntN(len(namespaces))], names[w.rng.IntN(len(names))]
		acts[w.rng.IntN(len(acts))]()
	}
}

func (w *writer) collection() string { return w.kind.CollectionPath(w.namespace) }

func (w *writer) item() string { return w.collection() + "/" + w.objectName }

// dryRun returns the parameter for a dry run for one write in six.
func (w *writer) dryRun() string {
	if w.rng.IntN(6) == 0 {
		return "?dryRun=All"
	}
	return ""
}

// labels returns random labels with one of three apps, or none.
func (w *writer) labels() map[string]string {
	if app := []string{"x", "y", "z", ""}[w.rng.IntN(4)]; app != "" {
		return map[string]string{"app": app}
	}
	return nil
}

// write sends a write that may fail with the given codes. It records the write unless it failed or
// was a dry run.
func (w *writer) write(verb, method, path, contentType, body, dry string, refusals ...int) {
	code, response := w.request(method, path+dry, contentType, body)
	switch {
	case slices.Contains(refusals, code):
		w.counter.Add("refused")
	case code != http.StatusOK && code != http.StatusCreated:
		w.t.Errorf("%s %s: %d %s", method, path+dry, code, response)
	case dry != "":
		w.counter.Add("dry run")
	default:
		w.recordWrite(w.kind.Name, verb, w.decode(response))
	}
}

func (w *writer) create() {
	body, err := json.Marshal(w.kind.New(w.namespace, w.objectName, w.labels()))
	require.NoError(w.t, err)
	w.write("create", "POST", w.collection(), harness.JSON, string(body), w.dryRun(), http.StatusConflict)
}

// patch sets labels and a unique annotation.
func (w *writer) patch() {
	body := w.newMetadata(w.labels())
	w.write("update", "PATCH", w.item(), "application/merge-patch+json", body, w.dryRun(), http.StatusNotFound)
}

func (w *writer) newMetadata(labels map[string]string) string {
	w.serial++
	app, err := json.Marshal(map[string]any{"app": nil})
	if labels != nil {
		app, err = json.Marshal(labels)
	}
	require.NoError(w.t, err)
	return fmt.Sprintf(`{"metadata":{"labels":%s,"annotations":{"serial":"%s-%d"}}}`, app, w.name, w.serial)
}

// get reads the object that is to be updated.
func (w *writer) get() map[string]any {
	code, body := w.request("GET", w.item(), harness.JSON, "")
	if code == http.StatusNotFound {
		return nil
	}
	var obj map[string]any
	require.NoError(w.t, json.Unmarshal(body, &obj))
	return obj
}

// put updates the object, half of the time without a resourceVersion.
func (w *writer) put() {
	obj := w.get()
	if obj == nil {
		return
	}
	w.serial++
	m := obj["metadata"].(map[string]any)
	m["labels"], m["annotations"] = w.labels(), map[string]string{"serial": fmt.Sprint(w.name, "-", w.serial)}
	if w.rng.IntN(2) == 0 {
		delete(m, "resourceVersion")
		delete(m, "uid")
	}
	body, err := json.Marshal(obj)
	require.NoError(w.t, err)
	w.write("update", "PUT", w.item(), harness.JSON, string(body), w.dryRun(), http.StatusConflict, http.StatusNotFound)
}

// putStale updates an object that has changed since it was read.
func (w *writer) putStale() {
	obj := w.get()
	if obj == nil {
		return
	}
	w.write("update", "PATCH", w.item(), "application/merge-patch+json", w.newMetadata(w.labels()), "", http.StatusNotFound)
	body, err := json.Marshal(obj)
	require.NoError(w.t, err)
	w.expectRefusal("PUT", w.item(), string(body), http.StatusConflict, http.StatusNotFound)
}

func (w *writer) expectRefusal(method, path, body string, codes ...int) {
	code, response := w.request(method, path, harness.JSON, body)
	require.Contains(w.t, codes, code, "%s", response)
	w.counter.Add("refused")
}

// writeNoop sends a write that changes nothing.
func (w *writer) writeNoop() {
	if w.rng.IntN(2) == 0 {
		code, _ := w.request("PATCH", w.item(), "application/merge-patch+json", `{}`)
		require.Contains(w.t, []int{http.StatusOK, http.StatusNotFound}, code)
		return
	}
	obj := w.get()
	if obj == nil {
		return
	}
	body, err := json.Marshal(obj)
	require.NoError(w.t, err)
	code, response := w.request("PUT", w.item(), harness.JSON, string(body))
	if code != http.StatusOK { // another writer has changed it
		require.Contains(w.t, []int{http.StatusConflict, http.StatusNotFound}, code)
		return
	}
	w.counter.Add("no-op")
	require.Equal(w.t, obj["metadata"].(map[string]any)["resourceVersion"], fmt.Sprint(w.decode(response).Revision))
}

// createInvalid sends an object that fails validation.
func (w *writer) createInvalid() {
	body, err := json.Marshal(w.kind.New(w.namespace, w.objectName, map[string]string{"app": "not a label"}))
	require.NoError(w.t, err)
	w.expectRefusal("POST", w.collection(), string(body), http.StatusUnprocessableEntity, http.StatusConflict)
}

func (w *writer) delete() {
	w.write("delete", "DELETE", w.item(), harness.JSON, "", w.dryRun(), http.StatusNotFound)
}

// deleteOtherUID sends a delete with the uid of another object.
func (w *writer) deleteOtherUID() {
	w.expectRefusal("DELETE", w.item(), `{"preconditions":{"uid":"other-uid"}}`, http.StatusConflict, http.StatusNotFound)
}
