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

func (a *writer) run(n int) {
	acts := []func(){a.create, a.create, a.create, a.patch, a.patch, a.patch, a.put, a.put, a.putStale, a.writeNoop, a.createInvalid, a.delete, a.delete, a.deleteOtherUID}
	namespaces, names := namespacesAndNames()
	for range n {
		time.Sleep(time.Duration(a.rng.IntN(30)) * 5 * time.Millisecond) // coarse, so that writes overlap
		a.namespace, a.objectName = namespaces[a.rng.IntN(len(namespaces))], names[a.rng.IntN(len(names))]
		acts[a.rng.IntN(len(acts))]()
	}
}

func (a *writer) collection() string { return a.kind.CollectionPath(a.namespace) }

func (a *writer) item() string { return a.collection() + "/" + a.objectName }

// dryRun returns the parameter for a dry run for one write in six.
func (a *writer) dryRun() string {
	if a.rng.IntN(6) == 0 {
		return "?dryRun=All"
	}
	return ""
}

// labels returns random labels with one of three apps, or none.
func (a *writer) labels() map[string]string {
	if app := []string{"x", "y", "z", ""}[a.rng.IntN(4)]; app != "" {
		return map[string]string{"app": app}
	}
	return nil
}

// write sends a write that may fail with the given codes. It records the write unless it failed or
// was a dry run.
func (a *writer) write(verb, method, path, contentType, body, dry string, refusals ...int) {
	code, response := a.request(method, path+dry, contentType, body)
	switch {
	case slices.Contains(refusals, code):
		a.counter.Add("refused")
	case code != http.StatusOK && code != http.StatusCreated:
		a.t.Errorf("%s %s: %d %s", method, path+dry, code, response)
	case dry != "":
		a.counter.Add("dry run")
	default:
		a.recordWrite(a.kind.Name, verb, a.decode(response))
	}
}

func (a *writer) create() {
	body, err := json.Marshal(a.kind.New(a.namespace, a.objectName, a.labels()))
	require.NoError(a.t, err)
	a.write("create", "POST", a.collection(), harness.JSON, string(body), a.dryRun(), http.StatusConflict)
}

// patch sets labels and a unique annotation.
func (a *writer) patch() {
	body := a.newMetadata(a.labels())
	a.write("update", "PATCH", a.item(), "application/merge-patch+json", body, a.dryRun(), http.StatusNotFound)
}

func (a *writer) newMetadata(labels map[string]string) string {
	a.serial++
	app, err := json.Marshal(map[string]any{"app": nil})
	if labels != nil {
		app, err = json.Marshal(labels)
	}
	require.NoError(a.t, err)
	return fmt.Sprintf(`{"metadata":{"labels":%s,"annotations":{"serial":"%s-%d"}}}`, app, a.name, a.serial)
}

// get reads the object that is to be updated.
func (a *writer) get() map[string]any {
	code, body := a.request("GET", a.item(), harness.JSON, "")
	if code == http.StatusNotFound {
		return nil
	}
	var obj map[string]any
	require.NoError(a.t, json.Unmarshal(body, &obj))
	return obj
}

// put updates the object, half of the time without a resourceVersion.
func (a *writer) put() {
	obj := a.get()
	if obj == nil {
		return
	}
	a.serial++
	m := obj["metadata"].(map[string]any)
	m["labels"], m["annotations"] = a.labels(), map[string]string{"serial": fmt.Sprint(a.name, "-", a.serial)}
	if a.rng.IntN(2) == 0 {
		delete(m, "resourceVersion")
		delete(m, "uid")
	}
	body, err := json.Marshal(obj)
	require.NoError(a.t, err)
	a.write("update", "PUT", a.item(), harness.JSON, string(body), a.dryRun(), http.StatusConflict, http.StatusNotFound)
}

// putStale updates an object that has changed since it was read.
func (a *writer) putStale() {
	obj := a.get()
	if obj == nil {
		return
	}
	a.write("update", "PATCH", a.item(), "application/merge-patch+json", a.newMetadata(a.labels()), "", http.StatusNotFound)
	body, err := json.Marshal(obj)
	require.NoError(a.t, err)
	a.expectRefusal("PUT", a.item(), string(body), http.StatusConflict, http.StatusNotFound)
}

func (a *writer) expectRefusal(method, path, body string, codes ...int) {
	code, response := a.request(method, path, harness.JSON, body)
	require.Contains(a.t, codes, code, "%s", response)
	a.counter.Add("refused")
}

// writeNoop sends a write that changes nothing.
func (a *writer) writeNoop() {
	if a.rng.IntN(2) == 0 {
		code, _ := a.request("PATCH", a.item(), "application/merge-patch+json", `{}`)
		require.Contains(a.t, []int{http.StatusOK, http.StatusNotFound}, code)
		return
	}
	obj := a.get()
	if obj == nil {
		return
	}
	body, err := json.Marshal(obj)
	require.NoError(a.t, err)
	code, response := a.request("PUT", a.item(), harness.JSON, string(body))
	if code != http.StatusOK { // another writer has changed it
		require.Contains(a.t, []int{http.StatusConflict, http.StatusNotFound}, code)
		return
	}
	a.counter.Add("no-op")
	require.Equal(a.t, obj["metadata"].(map[string]any)["resourceVersion"], fmt.Sprint(a.decode(response).Revision))
}

// createInvalid sends an object that fails validation.
func (a *writer) createInvalid() {
	body, err := json.Marshal(a.kind.New(a.namespace, a.objectName, map[string]string{"app": "not a label"}))
	require.NoError(a.t, err)
	a.expectRefusal("POST", a.collection(), string(body), http.StatusUnprocessableEntity, http.StatusConflict)
}

func (a *writer) delete() {
	a.write("delete", "DELETE", a.item(), harness.JSON, "", a.dryRun(), http.StatusNotFound)
}

// deleteOtherUID sends a delete with the uid of another object.
func (a *writer) deleteOtherUID() {
	a.expectRefusal("DELETE", a.item(), `{"preconditions":{"uid":"of another"}}`, http.StatusConflict, http.StatusNotFound)
}
