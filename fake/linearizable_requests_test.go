package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// send makes the request of q; done is false if that surely changed nothing.
func (c *client) send(q question) (a tell, done bool) {
	method, path, media, body := c.request(q)
	code, answer, done := c.ask(method, path, media, body)
	if code == 0 {
		return tell{}, done
	}
	return c.read(q, code, answer), true
}

// ask makes a request through any door. The code is 0 if the reply was lost, or if a
// fault has kept the request from being carried out: then done is false.
func (c *client) ask(method, path, media string, body []byte) (code int, answer []byte, done bool) {
	d := c.doors[c.rng.IntN(len(c.doors))]
	r, err := http.NewRequestWithContext(c.t.Context(), method, d.url+path, bytes.NewReader(body))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", media)
	r.Header.Set("User-Agent", fmt.Sprint("client-", c.id))
	resp, err := d.http.Do(r)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		answer, err = io.ReadAll(resp.Body)
	}
	if err != nil {
		if !c.losing {
			c.errorf("%v", err)
		}
		return 0, nil, true
	}
	if c.excuse != nil {
		if lost, undone := c.excuse(resp.StatusCode); lost || undone {
			return 0, nil, lost
		}
	}
	return resp.StatusCode, answer, true
}

func (c *client) request(q question) (method, path, media string, body []byte) {
	collection := c.kind.collection(c.namespace)
	item, dry, media := collection+"/"+q.key, "", jsonMedia
	if q.dry {
		dry = "&dryRun=All"
	}
	part := map[string]string{"status": "/status", "scale": "/scale"}[q.verb]
	switch q.verb {
	case "get":
		return "GET", item, media, nil
	case "getscale":
		return "GET", item + "/scale", media, nil
	case "list":
		return "GET", collection + "?fieldSelector=metadata.name%3D" + q.key, media, nil
	case "create":
		return "POST", collection + "?" + dry, media, c.body(q)
	case "strategic":
		return "PATCH", item + "?" + dry, "application/strategic-merge-patch+json", c.body(q)
	case "apply":
		return "PATCH", item + fmt.Sprintf("?fieldManager=applier-%d&force=true", c.id) + dry, applyYAML, c.body(q)
	case "json":
		patch := fmt.Sprintf(`[{"op":"test","path":"/metadata/annotations/serial","value":%q},
			{"op":"replace","path":"/metadata/annotations/serial","value":%q}]`, q.test, q.set["serial"])
		return "PATCH", item + "?" + dry, "application/json-patch+json", []byte(patch)
	case "delete":
		return "DELETE", item, media, c.body(q)
	}
	if q.verb == "put" || q.put {
		return "PUT", item + part + "?" + dry, media, c.body(q)
	}
	return "PATCH", item + part + "?" + dry, mergeJSON, c.body(q)
}

// body is the object of a request, or the part of it that matters.
func (c *client) body(q question) []byte {
	identity := map[string]any{}
	if q.uid != "" {
		identity["uid"] = q.uid
	}
	if q.rv != 0 {
		identity["resourceVersion"] = strconv.FormatUint(q.rv, 10)
	}
	var body map[string]any
	switch {
	case q.verb == "create", q.verb == "put": // all of it, with what the type must have
		body = c.part(q.set, identity, q.key)
		body = c.whole(body)
	case q.verb == "status" && q.put:
		all := annotations(q.base)
		maps.Copy(all, q.set)
		body = c.whole(c.part(all, identity, q.key))
	case q.verb == "scale" && q.put:
		body = c.part(q.set, identity, q.key)
		body["apiVersion"], body["kind"] = "autoscaling/v1", "Scale"
	case q.verb == "delete": // options in a body make those of the query void (DL-17)
		body = map[string]any{"preconditions": identity}
		if q.dry {
			body["dryRun"] = []string{metav1.DryRunAll}
		}
	case q.verb == "apply":
		body = c.part(q.set, identity, q.key)
		body["apiVersion"], body["kind"] = c.kind.apiVersion(), c.kind.name
	default: // a patch
		body = c.part(q.set, identity, q.key)
	}
	b, err := json.Marshal(body)
	require.NoError(c.t, err)
	return b
}

// part is an object that has nothing but what is set: annotations, and what the names
// with a slash mean.
func (c *client) part(set map[string]string, identity map[string]any, name string) map[string]any {
	metadata := maps.Clone(identity)
	metadata["name"], metadata["namespace"] = name, c.namespace
	object, annotations := map[string]any{"metadata": metadata}, map[string]string{}
	for key, value := range set {
		switch key {
		case "/replicas":
			object["spec"] = map[string]any{"replicas": json.Number(value)}
		case "/status":
			object["status"] = map[string]any{"observedGeneration": json.Number(value)}
		default:
			annotations[key] = value
		}
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return object
}

// whole adds to a part what an object of the kind must have.
func (c *client) whole(part map[string]any) map[string]any {
	b, err := json.Marshal(c.kind.object(c.namespace, "", nil))
	require.NoError(c.t, err)
	var object map[string]any
	require.NoError(c.t, json.Unmarshal(b, &object))
	object["apiVersion"], object["kind"], object["metadata"] = c.kind.apiVersion(), c.kind.name, part["metadata"]
	if status, ok := part["status"]; ok {
		object["status"] = status
	}
	if spec, ok := part["spec"].(map[string]any); ok {
		maps.Copy(object["spec"].(map[string]any), spec)
	}
	return object
}

// answer is what the model knows of any answer.
type answer struct {
	Kind     string
	Reason   metav1.StatusReason
	Details  struct{ UID string }
	Metadata struct {
		metav1.ObjectMeta
		Continue string
	}
	Spec   struct{ Replicas *int64 }
	Status json.RawMessage // an object, or the text of a Status
	Items  []answer
}

// read takes from an answer what the model knows of.
func (c *client) read(q question, code int, body []byte) tell {
	obj := c.parse(code, body)
	a := tell{code: code, reason: obj.Reason, uid: obj.Details.UID}
	switch {
	case q.verb == "list" && code == http.StatusOK:
		a.at = c.revision(obj)
		if len(obj.Items) > 1 {
			c.errorf("%d objects of one name", len(obj.Items))
		}
		for _, item := range obj.Items {
			c.see(&a, item)
		}
	case obj.Kind == c.kind.name, q.ofScale() && obj.Kind == "Scale":
		c.see(&a, obj)
	}
	return a
}

func (c *client) parse(code int, body []byte) (obj answer) {
	if err := json.Unmarshal(body, &obj); err != nil {
		c.errorf("%d %s: %v", code, body, err)
	}
	return obj
}

// content is what the model knows of an object.
func (obj answer) content() string {
	content := obj.Metadata.Annotations
	if content == nil {
		content = map[string]string{}
	}
	if obj.Spec.Replicas != nil {
		content["/replicas"] = strconv.FormatInt(*obj.Spec.Replicas, 10)
	}
	var status struct{ ObservedGeneration *int64 }
	if json.Unmarshal(obj.Status, &status) == nil && status.ObservedGeneration != nil {
		content["/status"] = strconv.FormatInt(*status.ObservedGeneration, 10)
	}
	return text(content)
}

// parseObject returns the uid of an object and what the model knows of it.
func parseObject(object string) (uid, content string, err error) {
	var obj answer
	err = json.Unmarshal([]byte(object), &obj)
	return string(obj.Metadata.UID), obj.content(), err
}

func (c *client) see(a *tell, obj answer) {
	a.object, a.uid, a.content = true, string(obj.Metadata.UID), obj.content()
	if obj.Metadata.ResourceVersion != "" { // what a dry run creates has none
		a.rv = c.revision(obj)
	}
}

func (c *client) revision(obj answer) uint64 {
	rev, err := strconv.ParseUint(obj.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		c.errorf("resourceVersion: %v", err)
	}
	return rev
}

// sweep deletes the collection. To each object that is what a list and the delete after
// it are: nobody may come in between two objects, but anybody between those.
func (c *client) sweep() {
	called := c.clock.Add(1)
	code, body, done := c.ask("DELETE", c.kind.collection(c.namespace), jsonMedia, nil)
	switch {
	case !done:
	case code == 0:
		for _, key := range c.keys() {
			c.record(c.operation(question{key: key, verb: "sweep"}, tell{}, called))
		}
	case code != http.StatusOK:
		c.errorf("deletecollection: %d %s", code, body)
	default:
		c.shown(called, c.parse(code, body), "sweep")
	}
}

// page reads the collection in pages, all of which show it as it was for the first one.
// It gives up where the token has expired.
func (c *client) page() {
	called, path := c.clock.Add(1), c.kind.collection(c.namespace)+"?limit=2"
	var all answer
	for next := path; ; {
		code, body, _ := c.ask("GET", next, jsonMedia, nil)
		if code == 0 || code == http.StatusGone && next != path {
			return
		}
		if code != http.StatusOK {
			c.errorf("%s: %d %s", next, code, body)
			return
		}
		one := c.parse(code, body)
		if next != path && one.Metadata.ResourceVersion != all.Metadata.ResourceVersion {
			c.errorf("torn: a page at %s, the first was at %s", one.Metadata.ResourceVersion, all.Metadata.ResourceVersion)
		}
		all.Metadata, all.Items = one.Metadata, append(all.Items, one.Items...)
		if one.Metadata.Continue == "" {
			break
		}
		next = path + "&continue=" + url.QueryEscape(one.Metadata.Continue)
	}
	c.shown(called, all, "")
}

// shown records a list of the collection as one list for each key, and what was done to
// those that are in it.
func (c *client) shown(called int64, list answer, verb string) {
	at := c.revision(list)
	for _, key := range c.keys() {
		a := tell{code: http.StatusOK, at: at}
		i := slices.IndexFunc(list.Items, func(item answer) bool { return item.Metadata.Name == key })
		if i >= 0 {
			c.see(&a, list.Items[i])
		}
		c.record(c.operation(question{key: key, verb: "list"}, a, called))
		if i >= 0 && verb != "" {
			c.record(c.operation(question{key: key, verb: verb}, tell{code: http.StatusOK}, called))
		}
	}
}
