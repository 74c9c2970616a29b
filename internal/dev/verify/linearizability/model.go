package linearizability

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/anishathalye/porcupine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Request is a request for the object of a key.
type Request struct {
	// Verb is get, getscale or list to read; create, put, merge, strategic, json, apply, status or
	// scale to write; delete or deletecollection to delete.
	Key, Verb       string
	DryRun          bool
	Put             bool              // status or scale is sent with PUT instead of PATCH
	Base            string            // the content that the PUT is based on
	ResourceVersion uint64            // precondition
	UID             string            // precondition
	TestSerial      string            // the serial that a JSON patch tests for
	Set             map[string]string // the content without status (create, put), or a part of it
	Noop            bool              // it sets the content that the object already has
}

// IsRead reports whether the request is a get or a list.
func (req Request) IsRead() bool {
	return req.Verb == "get" || req.Verb == "getscale" || req.Verb == "list"
}

// isScale reports whether the request is for the scale subresource.
func (req Request) isScale() bool { return req.Verb == "getscale" || req.Verb == "scale" }

// VisibleContent returns the part of an object's content that the response to the request has.
func (req Request) VisibleContent(content string) string {
	if req.isScale() {
		return EncodeContent(map[string]string{"/replicas": DecodeContent(content)["/replicas"]})
	}
	return content
}

// Response is the response that a client received. A Status in response to a delete has a UID, but
// no object.
type Response struct {
	Code            int // 0 if the response was lost
	Reason          metav1.StatusReason
	HasObject       bool
	UID             string
	ResourceVersion uint64
	Content         string // JSON of the annotations, with the replicas as /replicas and the status as /status
	ListRevision    uint64 // the resourceVersion of a list
}

// State is the state of a key in one of the orders that the checker tries.
type State struct {
	Exists          bool
	UID             string // also of an object that was deleted; "" if unknown
	ResourceVersion uint64 // 0 if unknown
	NextRevision    uint64 // the lowest possible revision of the next write
	Content         string
}

// Model returns a model of an API server that handles requests one after the other, starting in the
// state begin. Keys are independent, as the API guarantees nothing across objects.
func Model(begin State) porcupine.Model {
	return porcupine.Model{
		Partition:         PartitionByKey,
		Init:              func() any { return begin },
		Step:              func(s, req, resp any) (bool, any) { return s.(State).step(req.(Request), resp.(Response)) },
		DescribeOperation: func(req, resp any) string { return fmt.Sprintf("%+v -> %+v", req, resp) },
		DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
	}
}

// PartitionByKey returns the operations of each key.
func PartitionByKey(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	keys := map[string][]porcupine.Operation{}
	for _, op := range history {
		key := op.Input.(Request).Key
		keys[key] = append(keys[key], op)
	}
	for _, part := range keys {
		parts = append(parts, part)
	}
	return parts
}

// Absent returns the state of a key that was not used up to revision begin.
func Absent(begin uint64) State { return State{NextRevision: begin + 1} }

// step reports whether the server can respond to req with resp in this state, and returns the state
// after it.
func (s State) step(req Request, resp Response) (bool, State) {
	code, reason, after := s.predict(req)
	switch {
	case resp.Code == 0 && req.DryRun:
		return true, s
	case resp.Code == 0:
		return true, after // the request may not have been carried out; then it is the last one
	case resp.Code != code || resp.Reason != reason:
		return false, s
	case code >= http.StatusBadRequest:
		return true, s
	case req.IsRead():
		return s.checkRead(req, resp)
	case req.Verb == "deletecollection": // it existed when the collection was listed, but maybe not when it was to be deleted
		return true, after
	case req.DryRun:
		return s.checkDryRun(req, resp, after)
	case req.Verb == "delete":
		return s.checkDelete(resp, after)
	}
	return s.checkWrite(req, resp, after)
}

// predict returns the code and the reason of the response, and the state after the request unless
// it is a dry run. Values that the server generates are unknown in that state.
func (s State) predict(req Request) (int, metav1.StatusReason, State) {
	after := State{Exists: true, NextRevision: s.NextRevision + 1, Content: s.Content}
	switch {
	case req.Verb == "list", req.IsRead() && s.Exists, req.Verb == "deletecollection" && !s.Exists:
		return http.StatusOK, "", s
	case !s.Exists && (req.Verb == "create" || req.Verb == "apply"):
		after.Content = EncodeContent(req.Set)
		return http.StatusCreated, "", after
	case !s.Exists:
		return http.StatusNotFound, metav1.StatusReasonNotFound, s
	case req.Verb == "create":
		return http.StatusConflict, metav1.StatusReasonAlreadyExists, s
	case req.ResourceVersion != 0 && req.ResourceVersion != s.ResourceVersion, req.UID != "" && req.UID != s.UID:
		// Also if s.ResourceVersion is unknown: the client knows the one that it sent, so it is of
		// an older state.
		return http.StatusConflict, metav1.StatusReasonConflict, s
	case req.Verb == "json" && DecodeContent(s.Content)["serial"] != req.TestSerial:
		return http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, s
	case req.Verb == "delete", req.Verb == "deletecollection":
		return http.StatusOK, "", State{UID: s.UID, NextRevision: after.NextRevision}
	case req.Verb == "put":
		after.Content = EncodeContent(withStatus(req.Set, s.Content))
	default:
		merged := DecodeContent(s.Content)
		maps.Copy(merged, req.Set)
		after.Content = EncodeContent(merged)
	}
	after.UID = s.UID
	return http.StatusOK, "", after
}

// checkRead checks the response to a get or a list.
func (s State) checkRead(req Request, resp Response) (bool, State) {
	if resp.HasObject != s.Exists {
		return false, s
	}
	ok, after := true, s
	if resp.HasObject {
		ok, after = s.checkObject(resp, req.VisibleContent(s.Content))
	}
	if resp.ListRevision != 0 { // no write is older than the revision of a list
		ok = ok && resp.ListRevision+1 >= after.NextRevision
		after.NextRevision = max(after.NextRevision, resp.ListRevision+1)
	}
	return ok, after
}

// checkObject checks an object in a response. Values that were unknown are known in the returned
// state.
func (s State) checkObject(resp Response, content string) (bool, State) {
	ok := resp.HasObject && resp.Content == content && (s.UID == "" || resp.UID == s.UID)
	if s.ResourceVersion == 0 {
		ok = ok && resp.ResourceVersion+1 >= s.NextRevision // NextRevision is higher than the revision of the write, which is unknown
	} else {
		ok = ok && resp.ResourceVersion == s.ResourceVersion
	}
	s.UID, s.ResourceVersion, s.NextRevision = resp.UID, resp.ResourceVersion, max(s.NextRevision, resp.ResourceVersion+1)
	return ok, s
}

// checkDryRun checks the response to a dry run, which has the content after the request at the
// revision before it.
func (s State) checkDryRun(req Request, resp Response, after State) (bool, State) {
	switch {
	case !s.Exists:
		return resp.HasObject && resp.ResourceVersion == 0 && resp.Content == after.Content, s
	case req.Verb == "delete" && !resp.HasObject:
		return s.UID == "" || resp.UID == s.UID, s
	}
	want := after.Content
	if req.Verb == "delete" {
		want = s.Content
	}
	return s.checkObject(resp, req.VisibleContent(want))
}

// checkDelete checks the response to a delete: the object at the revision of the deletion, or a
// Status.
func (s State) checkDelete(resp Response, after State) (bool, State) {
	ok := s.UID == "" || resp.UID == s.UID
	after.UID = resp.UID
	if resp.HasObject {
		ok = ok && resp.Content == s.Content && resp.ResourceVersion >= s.NextRevision
		after.NextRevision = resp.ResourceVersion + 1
	}
	return ok, after
}

// checkWrite checks the response to a create or an update, which may have changed nothing.
func (s State) checkWrite(req Request, resp Response, after State) (bool, State) {
	ok := resp.HasObject && resp.Content == req.VisibleContent(after.Content) && resp.UID != ""
	if s.Exists {
		ok = ok && (s.UID == "" || resp.UID == s.UID)
	} else {
		ok = ok && resp.UID != s.UID // a new object has a new uid
	}
	if unchanged := s.Exists && s.Content == after.Content && s.ResourceVersion != 0 && resp.ResourceVersion == s.ResourceVersion; !unchanged {
		ok = ok && resp.ResourceVersion >= s.NextRevision
	}
	after.UID, after.ResourceVersion, after.NextRevision = resp.UID, resp.ResourceVersion, max(s.NextRevision, resp.ResourceVersion+1)
	return ok, after
}

// withStatus returns set with the status of content, which only writes of the status subresource
// change.
func withStatus(set map[string]string, content string) map[string]string {
	status, ok := DecodeContent(content)["/status"]
	if set = maps.Clone(set); ok {
		set["/status"] = status
	}
	return set
}

// EncodeContent encodes content as JSON with sorted keys.
func EncodeContent(annotations map[string]string) string {
	b, err := json.Marshal(annotations)
	if err != nil {
		panic(err) // cannot occur with strings
	}
	return string(b)
}

// DecodeContent decodes content that EncodeContent has encoded. It panics if the text is not JSON.
func DecodeContent(text string) map[string]string {
	m := map[string]string{}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err) // the text is from EncodeContent
	}
	return m
}

// WriteVerb returns the verb of the watch event for the request. An apply may also be a create.
func (req Request) WriteVerb() string {
	switch req.Verb {
	case "create":
		return "create"
	case "delete", "deletecollection":
		return "delete"
	}
	return "update"
}
