package linearizability

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

	"example.com/fakeapi/internal/dev/verify/harness"
)

const (
	applyYAML = "application/apply-patch+yaml"
	mergeJSON = "application/merge-patch+json"
)

// send sends a request. done is false if it certainly changed nothing.
func (c *Client) send(req Request) (resp Response, done bool) {
	method, path, media, body := c.buildRequest(req)
	code, response, done := c.roundTrip(method, path, media, body)
	if code == 0 {
		return Response{}, done
	}
	return c.parseResponse(req, code, response), true
}

// roundTrip sends a request to a random endpoint. The code is 0 if the response was lost, or if a
// fault prevented the request, in which case done is false.
func (c *Client) roundTrip(method, path, media string, body []byte) (code int, response []byte, done bool) {
	endpoint := c.endpoints[c.Rand.IntN(len(c.endpoints))]
	r, err := http.NewRequestWithContext(c.T.Context(), method, endpoint.URL+path, bytes.NewReader(body))
	require.NoError(c.T, err)
	r.Header.Set("Content-Type", media)
	r.Header.Set("User-Agent", fmt.Sprint("client-", c.id))
	resp, err := endpoint.Client.Do(r)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		response, err = io.ReadAll(resp.Body)
	}
	if err != nil {
		if !c.LosesReplies {
			c.Errorf("%v", err)
		}
		return 0, nil, true
	}
	if c.ClassifyFault != nil {
		if lost, undone := c.ClassifyFault(resp.StatusCode); lost || undone {
			return 0, nil, lost
		}
	}
	return resp.StatusCode, response, true
}

func (c *Client) buildRequest(req Request) (method, path, media string, body []byte) {
	collection := c.Kind.CollectionPath(c.Namespace)
	item, dry, media := collection+"/"+req.Key, "", harness.JSON
	if req.DryRun {
		dry = "&dryRun=All"
	}
	part := map[string]string{"status": "/status", "scale": "/scale"}[req.Verb]
	switch req.Verb {
	case "get":
		return "GET", item, media, nil
	case "getscale":
		return "GET", item + "/scale", media, nil
	case "list":
		return "GET", collection + "?fieldSelector=metadata.name%3D" + req.Key, media, nil
	case "create":
		return "POST", collection + "?" + dry, media, c.buildBody(req)
	case "strategic":
		return "PATCH", item + "?" + dry, "application/strategic-merge-patch+json", c.buildBody(req)
	case "apply":
		return "PATCH", item + fmt.Sprintf("?fieldManager=applier-%d&force=true", c.id) + dry, applyYAML, c.buildBody(req)
	case "json":
		patch := fmt.Sprintf(`[{"op":"test","path":"/metadata/annotations/serial","value":%q},
			{"op":"replace","path":"/metadata/annotations/serial","value":%q}]`, req.TestSerial, req.Set["serial"])
		return "PATCH", item + "?" + dry, "application/json-patch+json", []byte(patch)
	case "delete":
		return "DELETE", item, media, c.buildBody(req)
	}
	if req.Verb == "put" || req.Put {
		return "PUT", item + part + "?" + dry, media, c.buildBody(req)
	}
	return "PATCH", item + part + "?" + dry, mergeJSON, c.buildBody(req)
}

// buildBody returns the body of a request: an object or a part of it.
func (c *Client) buildBody(req Request) []byte {
	identity := map[string]any{}
	if req.UID != "" {
		identity["uid"] = req.UID
	}
	if req.ResourceVersion != 0 {
		identity["resourceVersion"] = strconv.FormatUint(req.ResourceVersion, 10)
	}
	var body map[string]any
	switch {
	case req.Verb == "create", req.Verb == "put", req.Verb == "apply": // with its required fields
		body = c.fullObject(c.partialObject(req.Set, identity, req.Key))
	case req.Verb == "status" && req.Put:
		all := DecodeContent(req.Base)
		maps.Copy(all, req.Set)
		body = c.fullObject(c.partialObject(all, identity, req.Key))
	case req.Verb == "scale" && req.Put:
		body = c.partialObject(req.Set, identity, req.Key)
		body["apiVersion"], body["kind"] = "autoscaling/v1", "Scale"
	case req.Verb == "delete": // the server ignores options in the query if there is a body (DL-17)
		body = map[string]any{"preconditions": identity}
		if req.DryRun {
			body["dryRun"] = []string{metav1.DryRunAll}
		}
	default: // a patch
		body = c.partialObject(req.Set, identity, req.Key)
	}
	b, err := json.Marshal(body)
	require.NoError(c.T, err)
	return b
}

// partialObject returns an object with metadata and the fields in set: annotations, "/replicas" and
// "/status".
func (c *Client) partialObject(set map[string]string, identity map[string]any, name string) map[string]any {
	metadata := maps.Clone(identity)
	metadata["name"], metadata["namespace"] = name, c.Namespace
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

// fullObject adds the required fields of the kind to a partial object.
func (c *Client) fullObject(part map[string]any) map[string]any {
	b, err := json.Marshal(c.Kind.New(c.Namespace, "", nil))
	require.NoError(c.T, err)
	var object map[string]any
	require.NoError(c.T, json.Unmarshal(b, &object))
	object["apiVersion"], object["kind"], object["metadata"] = c.Kind.APIVersion(), c.Kind.Name, part["metadata"]
	if status, ok := part["status"]; ok {
		object["status"] = status
	}
	if spec, ok := part["spec"].(map[string]any); ok {
		maps.Copy(object["spec"].(map[string]any), spec)
	}
	return object
}

// apiObject has the fields of an object, a list or a Status that the model uses.
type apiObject struct {
	Kind     string
	Reason   metav1.StatusReason
	Details  struct{ UID string }
	Metadata struct {
		metav1.ObjectMeta
		Continue string
	}
	Spec   struct{ Replicas *int64 }
	Status json.RawMessage // an object, or the string in a Status
	Items  []apiObject
}

// parseResponse returns what the model uses of a response.
func (c *Client) parseResponse(req Request, code int, body []byte) Response {
	obj := c.parseBody(code, body)
	resp := Response{Code: code, Reason: obj.Reason, UID: obj.Details.UID}
	switch {
	case req.Verb == "list" && code == http.StatusOK:
		resp.ListRevision = c.revision(obj)
		if len(obj.Items) > 1 {
			c.Errorf("%d objects with the same name", len(obj.Items))
		}
		for _, item := range obj.Items {
			c.setObject(&resp, item)
		}
	case obj.Kind == c.Kind.Name, req.isScale() && obj.Kind == "Scale":
		c.setObject(&resp, obj)
	}
	return resp
}

func (c *Client) parseBody(code int, body []byte) (obj apiObject) {
	if err := json.Unmarshal(body, &obj); err != nil {
		c.Errorf("%d %s: %v", code, body, err)
	}
	return obj
}

// content returns the content of an object for the model.
func (obj apiObject) content() string {
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
	return EncodeContent(content)
}

// ParseObject returns the uid of an object, and its content for the model.
func ParseObject(object string) (uid, content string, err error) {
	var obj apiObject
	err = json.Unmarshal([]byte(object), &obj)
	return string(obj.Metadata.UID), obj.content(), err
}

func (c *Client) setObject(resp *Response, obj apiObject) {
	resp.HasObject, resp.UID, resp.Content = true, string(obj.Metadata.UID), obj.content()
	if obj.Metadata.ResourceVersion != "" { // absent after a dry run of a create
		resp.ResourceVersion = c.revision(obj)
	}
}

func (c *Client) revision(obj apiObject) uint64 {
	rev, err := strconv.ParseUint(obj.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		c.Errorf("resourceVersion: %v", err)
	}
	return rev
}

// deleteCollection deletes the collection. For each object this is a list followed by a delete.
// Other requests may be handled in between.
func (c *Client) deleteCollection() {
	called := c.Clock.Add(1)
	code, body, done := c.roundTrip("DELETE", c.Kind.CollectionPath(c.Namespace), harness.JSON, nil)
	switch {
	case !done:
	case code == 0:
		for _, key := range c.Keys() {
			c.record(c.newOperation(Request{Key: key, Verb: "deletecollection"}, Response{}, called))
		}
	case code != http.StatusOK:
		c.Errorf("deletecollection: %d %s", code, body)
	default:
		c.recordList(called, c.parseBody(code, body), "deletecollection")
	}
}

// listPages reads the collection in pages, which must all be of the same revision. It returns
// without recording anything if the continue token has expired.
func (c *Client) listPages() {
	called, path := c.Clock.Add(1), c.Kind.CollectionPath(c.Namespace)+"?limit=2"
	var all apiObject
	for next := path; ; {
		code, body, _ := c.roundTrip("GET", next, harness.JSON, nil)
		if code == 0 || code == http.StatusGone && next != path {
			return
		}
		if code != http.StatusOK {
			c.Errorf("%s: %d %s", next, code, body)
			return
		}
		one := c.parseBody(code, body)
		if next != path && one.Metadata.ResourceVersion != all.Metadata.ResourceVersion {
			c.Errorf("inconsistent pages: one at %s, the first was at %s", one.Metadata.ResourceVersion, all.Metadata.ResourceVersion)
		}
		all.Metadata, all.Items = one.Metadata, append(all.Items, one.Items...)
		if one.Metadata.Continue == "" {
			break
		}
		next = path + "&continue=" + url.QueryEscape(one.Metadata.Continue)
	}
	c.recordList(called, all, "")
}

// recordList records a list of the collection as one list for each key, and an operation with verb
// for each key that exists unless verb is "".
func (c *Client) recordList(called int64, list apiObject, verb string) {
	at := c.revision(list)
	for _, key := range c.Keys() {
		resp := Response{Code: http.StatusOK, ListRevision: at}
		i := slices.IndexFunc(list.Items, func(item apiObject) bool { return item.Metadata.Name == key })
		if i >= 0 {
			c.setObject(&resp, list.Items[i])
		}
		c.record(c.newOperation(Request{Key: key, Verb: "list"}, resp, called))
		if i >= 0 && verb != "" {
			c.record(c.newOperation(Request{Key: key, Verb: verb}, Response{Code: http.StatusOK}, called))
		}
	}
}
