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
func (q Request) IsRead() bool { return q.Verb == "get" || q.Verb == "getscale" || q.Verb == "list" }

// isScale reports whether the request is for the scale subresource.
func (q Request) isScale() bool { return q.Verb == "getscale" || q.Verb == "scale" }

// VisibleContent returns the part of an object's content that the response to the request has.
func (q Request) VisibleContent(content string) string {
	if q.isScale() {
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
		Step:              func(s, q, a any) (bool, any) { return s.(State).step(q.(Request), a.(Response)) },
		DescribeOperation: func(q, a any) string { return fmt.Sprintf("%+v -> %+v", q, a) },
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

// step reports whether the server can respond to q with a in this state, and returns the state
// after it.
func (s State) step(q Request, a Response) (bool, State) {
	code, reason, after := s.predict(q)
	switch {
	case a.Code == 0 && q.DryRun:
		return true, s
	case a.Code == 0:
		return true, after // the request may not have been carried out; then it is the last one
	case a.Code != code || a.Reason != reason:
		return false, s
	case code >= http.StatusBadRequest:
		return true, s
	case q.IsRead():
		return s.checkRead(q, a)
	case q.Verb == "deletecollection": // it existed when the collection was listed, but maybe not when it was to be deleted
		return true, after
	case q.DryRun:
		return s.checkDryRun(q, a, after)
	case q.Verb == "delete":
		return s.checkDelete(a, after)
	}
	return s.checkWrite(q, a, after)
}

// predict returns the code and the reason of the response, and the state after the request unless
// it is a dry run. Values that the server generates are unknown in that state.
func (s State) predict(q Request) (int, metav1.StatusReason, State) {
	after := State{Exists: true, NextRevision: s.NextRevision + 1, Content: s.Content}
	switch {
	case q.Verb == "list", q.IsRead() && s.Exists, q.Verb == "deletecollection" && !s.Exists:
		return http.StatusOK, "", s
	case !s.Exists && (q.Verb == "create" || q.Verb == "apply"):
		after.Content = EncodeContent(q.Set)
		return http.StatusCreated, "", after
	case !s.Exists:
		return http.StatusNotFound, metav1.StatusReasonNotFound, s
	case q.Verb == "create":
		return http.StatusConflict, metav1.StatusReasonAlreadyExists, s
	case q.ResourceVersion != 0 && q.ResourceVersion != s.ResourceVersion, q.UID != "" && q.UID != s.UID:
		// Also if s.ResourceVersion is unknown: the client knows the one that it sent, so it is of
		// an older state.
		return http.StatusConflict, metav1.StatusReasonConflict, s
	case q.Verb == "json" && DecodeContent(s.Content)["serial"] != q.TestSerial:
		return http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, s
	case q.Verb == "delete", q.Verb == "deletecollection":
		return http.StatusOK, "", State{UID: s.UID, NextRevision: after.NextRevision}
	case q.Verb == "put":
		after.Content = EncodeContent(withStatus(q.Set, s.Content))
	default:
		merged := DecodeContent(s.Content)
		maps.Copy(merged, q.Set)
		after.Content = EncodeContent(merged)
	}
	after.UID = s.UID
	return http.StatusOK, "", after
}

// checkRead checks the response to a get or a list.
func (s State) checkRead(q Request, a Response) (bool, State) {
	if a.HasObject != s.Exists {
		return false, s
	}
	ok, after := true, s
	if a.HasObject {
		ok, after = s.checkObject(a, q.VisibleContent(s.Content))
	}
	if a.ListRevision != 0 { // no write is older than the revision of a list
		ok = ok && a.ListRevision+1 >= after.NextRevision
		after.NextRevision = max(after.NextRevision, a.ListRevision+1)
	}
	return ok, after
}

// checkObject checks an object in a response. Values that were unknown are known in the returned
// state.
func (s State) checkObject(a Response, content string) (bool, State) {
	ok := a.HasObject && a.Content == content && (s.UID == "" || a.UID == s.UID)
	if s.ResourceVersion == 0 {
		ok = ok && a.ResourceVersion+1 >= s.NextRevision // NextRevision is higher than the revision of the write, which is unknown
	} else {
		ok = ok && a.ResourceVersion == s.ResourceVersion
	}
	s.UID, s.ResourceVersion, s.NextRevision = a.UID, a.ResourceVersion, max(s.NextRevision, a.ResourceVersion+1)
	return ok, s
}

// checkDryRun checks the response to a dry run, which has the content after the request at the
// revision before it.
func (s State) checkDryRun(q Request, a Response, after State) (bool, State) {
	switch {
	case !s.Exists:
		return a.HasObject && a.ResourceVersion == 0 && a.Content == after.Content, s
	case q.Verb == "delete" && !a.HasObject:
		return s.UID == "" || a.UID == s.UID, s
	}
	want := after.Content
	if q.Verb == "delete" {
		want = s.Content
	}
	return s.checkObject(a, q.VisibleContent(want))
}

// checkDelete checks the response to a delete: the object at the revision of the deletion, or a
// Status.
func (s State) checkDelete(a Response, after State) (bool, State) {
	ok := s.UID == "" || a.UID == s.UID
	after.UID = a.UID
	if a.HasObject {
		ok = ok && a.Content == s.Content && a.ResourceVersion >= s.NextRevision
		after.NextRevision = a.ResourceVersion + 1
	}
	return ok, after
}

// checkWrite checks the response to a create or an update, which may have changed nothing.
func (s State) checkWrite(q Request, a Response, after State) (bool, State) {
	ok := a.HasObject && a.Content == q.VisibleContent(after.Content) && a.UID != ""
	if s.Exists {
		ok = ok && (s.UID == "" || a.UID == s.UID)
	} else {
		ok = ok && a.UID != s.UID // a new object has a new uid
	}
	if unchanged := s.Exists && s.Content == after.Content && s.ResourceVersion != 0 && a.ResourceVersion == s.ResourceVersion; !unchanged {
		ok = ok && a.ResourceVersion >= s.NextRevision
	}
	after.UID, after.ResourceVersion, after.NextRevision = a.UID, a.ResourceVersion, max(s.NextRevision, a.ResourceVersion+1)
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
func (q Request) WriteVerb() string {
	switch q.Verb {
	case "create":
		return "create"
	case "delete", "deletecollection":
		return "delete"
	}
	return "update"
}
