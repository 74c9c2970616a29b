package linearizability

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/anishathalye/porcupine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Request is what a client wants of the object of a key.
type Request struct {
	// key is that of the object, and verb one of get getscale list, create put merge
	// strategic json apply status scale, delete sweep.
	Key, Verb       string
	DryRun          bool
	Put             bool              // status or scale is put, not merged,
	Base            string            // into what its client has seen
	ResourceVersion uint64            // it must be at this resourceVersion,
	UID             string            // and have this uid,
	TestSerial      string            // and this serial
	Set             map[string]string // all of its content but its status (create, put), or some of it
	Noop            bool              // it sets what is there already
}

func (q Request) IsRead() bool { return q.Verb == "get" || q.Verb == "getscale" || q.Verb == "list" }

func (q Request) isScale() bool { return q.Verb == "getscale" || q.Verb == "scale" }

// VisibleContent is what an answer shows of a content.
func (q Request) VisibleContent(content string) string {
	if q.isScale() {
		return EncodeContent(map[string]string{"/replicas": DecodeContent(content)["/replicas"]})
	}
	return content
}

// Response is what the client was told. Without an object the uid may be there all
// the same: the Status of a deletion has it.
type Response struct {
	Code            int // 0: the reply was lost
	Reason          metav1.StatusReason
	HasObject       bool
	UID             string
	ResourceVersion uint64
	Content         string // the annotations as JSON, the replicas as /replicas, the status as /status
	ListRevision    uint64 // the resourceVersion of a list
}

// State is what is known of a key in one of the orders that the checker tries.
type State struct {
	Exists          bool
	UID             string // also of the object that was here last; "" if nobody was told
	ResourceVersion uint64 // 0 if nobody was told
	NextRevision    uint64 // the least that the revision of the next write can be
	Content         string
}

// Model is what an API server does for requests that come one after the other.
// A key is on its own, as in the documents: they promise nothing across objects. All
// begin in the same state.
func Model(begin State) porcupine.Model {
	return porcupine.Model{
		Partition:         PartitionByKey,
		Init:              func() any { return begin },
		Step:              func(s, q, a any) (bool, any) { return s.(State).step(q.(Request), a.(Response)) },
		DescribeOperation: func(q, a any) string { return fmt.Sprintf("%+v -> %+v", q, a) },
		DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
	}
}

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

// Absent is the state of a key that nobody has used up to a revision.
func Absent(begin uint64) State { return State{NextRevision: begin + 1} }

// step tells whether the request may be answered like this in this state, and
// what comes of it.
func (s State) step(q Request, a Response) (bool, State) {
	code, reason, after := s.predict(q)
	switch {
	case a.Code == 0 && q.DryRun:
		return true, s
	case a.Code == 0:
		return true, after // if it took place at all: it may also be the last of all
	case a.Code != code || a.Reason != reason:
		return false, s
	case code >= http.StatusBadRequest:
		return true, s
	case q.IsRead():
		return s.checkRead(q, a)
	case q.Verb == "sweep": // it was there when it was listed, if no longer when it was its turn
		return true, after
	case q.DryRun:
		return s.checkDryRun(q, a, after)
	case q.Verb == "delete":
		return s.checkDelete(a, after)
	}
	return s.checkWrite(q, a, after)
}

// predict is the code of the answer, and the state after the request if it is no
// dry run. Nobody was told yet what the server makes up.
func (s State) predict(q Request) (int, metav1.StatusReason, State) {
	after := State{Exists: true, NextRevision: s.NextRevision + 1, Content: s.Content}
	switch {
	case q.Verb == "list", q.IsRead() && s.Exists, q.Verb == "sweep" && !s.Exists:
		return http.StatusOK, "", s
	case !s.Exists && (q.Verb == "create" || q.Verb == "apply"):
		after.Content = EncodeContent(q.Set)
		return http.StatusCreated, "", after
	case !s.Exists:
		return http.StatusNotFound, metav1.StatusReasonNotFound, s
	case q.Verb == "create":
		return http.StatusConflict, metav1.StatusReasonAlreadyExists, s
	case q.ResourceVersion != 0 && q.ResourceVersion != s.ResourceVersion, q.UID != "" && q.UID != s.UID:
		// Also where nobody was told: what a client sends it was told of before,
		// so that it is of an older state.
		return http.StatusConflict, metav1.StatusReasonConflict, s
	case q.Verb == "json" && DecodeContent(s.Content)["serial"] != q.TestSerial:
		return http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, s
	case q.Verb == "delete", q.Verb == "sweep":
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

// checkRead is a get or a list that saw the present.
func (s State) checkRead(q Request, a Response) (bool, State) {
	if a.HasObject != s.Exists {
		return false, s
	}
	ok, after := true, s
	if a.HasObject {
		ok, after = s.checkObject(a, q.VisibleContent(s.Content))
	}
	if a.ListRevision != 0 { // a list is of a revision that no write is older than
		ok = ok && a.ListRevision+1 >= after.NextRevision
		after.NextRevision = max(after.NextRevision, a.ListRevision+1)
	}
	return ok, after
}

// checkObject is the object as it is. What nobody was told before is known from now on.
func (s State) checkObject(a Response, content string) (bool, State) {
	ok := a.HasObject && a.Content == content && (s.UID == "" || a.UID == s.UID)
	if s.ResourceVersion == 0 {
		ok = ok && a.ResourceVersion+1 >= s.NextRevision // next is beyond the write that nobody was told of
	} else {
		ok = ok && a.ResourceVersion == s.ResourceVersion
	}
	s.UID, s.ResourceVersion, s.NextRevision = a.UID, a.ResourceVersion, max(s.NextRevision, a.ResourceVersion+1)
	return ok, s
}

// checkDryRun is a dry run: it shows what would be, at the revision of what is.
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

// checkDelete answers with the object at the revision of its end, or with a Status.
func (s State) checkDelete(a Response, after State) (bool, State) {
	ok := s.UID == "" || a.UID == s.UID
	after.UID = a.UID
	if a.HasObject {
		ok = ok && a.Content == s.Content && a.ResourceVersion >= s.NextRevision
		after.NextRevision = a.ResourceVersion + 1
	}
	return ok, after
}

// checkWrite is an object that was created or changed, or was like that before.
func (s State) checkWrite(q Request, a Response, after State) (bool, State) {
	ok := a.HasObject && a.Content == q.VisibleContent(after.Content) && a.UID != ""
	if s.Exists {
		ok = ok && (s.UID == "" || a.UID == s.UID)
	} else {
		ok = ok && a.UID != s.UID // not the one that was here last
	}
	if unchanged := s.Exists && s.Content == after.Content && s.ResourceVersion != 0 && a.ResourceVersion == s.ResourceVersion; !unchanged {
		ok = ok && a.ResourceVersion >= s.NextRevision
	}
	after.UID, after.ResourceVersion, after.NextRevision = a.UID, a.ResourceVersion, max(s.NextRevision, a.ResourceVersion+1)
	return ok, after
}

// withStatus is a content with the status of another, which only a write of the status
// changes.
func withStatus(set map[string]string, content string) map[string]string {
	status, ok := DecodeContent(content)["/status"]
	if set = maps.Clone(set); ok {
		set["/status"] = status
	}
	return set
}

func EncodeContent(annotations map[string]string) string {
	b, err := json.Marshal(annotations)
	if err != nil {
		panic(err) // strings always are JSON
	}
	return string(b)
}

func DecodeContent(text string) map[string]string {
	m := map[string]string{}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err) // it is from the function above
	}
	return m
}

// WriteVerb is what a watch shows the write of a question as; an apply can be a create, too.
func (q Request) WriteVerb() string {
	switch q.Verb {
	case "create":
		return "create"
	case "delete", "sweep":
		return "delete"
	}
	return "update"
}
