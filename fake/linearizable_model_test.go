package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/anishathalye/porcupine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// question is what a client wants of the object of a key.
type question struct {
	// key is that of the object, and verb one of get getscale list, create put merge
	// strategic json apply status scale, delete sweep.
	key, verb string
	dry       bool
	put       bool              // status or scale is put, not merged,
	base      string            // into what its client has seen
	rv        uint64            // it must be at this resourceVersion,
	uid       string            // and have this uid,
	test      string            // and this serial
	set       map[string]string // all of its content but its status (create, put), or some of it
	same      bool              // it sets what is there already
}

func (q question) reads() bool { return q.verb == "get" || q.verb == "getscale" || q.verb == "list" }

func (q question) ofScale() bool { return q.verb == "getscale" || q.verb == "scale" }

// sees is what an answer shows of a content.
func (q question) sees(content string) string {
	if q.ofScale() {
		return text(map[string]string{"/replicas": annotations(content)["/replicas"]})
	}
	return content
}

// tell is what the client was told. Without an object the uid may be there all
// the same: the Status of a deletion has it.
type tell struct {
	code    int // 0: the reply was lost
	reason  metav1.StatusReason
	object  bool
	uid     string
	rv      uint64
	content string // the annotations as JSON, the replicas as /replicas, the status as /status
	at      uint64 // the resourceVersion of a list
}

// state is what is known of a key in one of the orders that the checker tries.
type state struct {
	there   bool
	uid     string // also of the object that was here last; "" if nobody was told
	rv      uint64 // 0 if nobody was told
	next    uint64 // the least that the revision of the next write can be
	content string
}

// model is what an API server does for requests that come one after the other.
// A key is on its own, as in the documents: they promise nothing across objects. All
// begin in the same state.
func model(begin state) porcupine.Model {
	return porcupine.Model{
		Partition:         byKey,
		Init:              func() any { return begin },
		Step:              func(s, q, a any) (bool, any) { return s.(state).step(q.(question), a.(tell)) },
		DescribeOperation: func(q, a any) string { return fmt.Sprintf("%+v -> %+v", q, a) },
		DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
	}
}

func byKey(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	keys := map[string][]porcupine.Operation{}
	for _, op := range history {
		key := op.Input.(question).key
		keys[key] = append(keys[key], op)
	}
	for _, part := range keys {
		parts = append(parts, part)
	}
	return parts
}

// nothing is the state of a key that nobody has used up to a revision.
func nothing(begin uint64) state { return state{next: begin + 1} }

// step tells whether the request may be answered like this in this state, and
// what comes of it.
func (s state) step(q question, a tell) (bool, state) {
	code, reason, after := s.serve(q)
	switch {
	case a.code == 0 && q.dry:
		return true, s
	case a.code == 0:
		return true, after // if it took place at all: it may also be the last of all
	case a.code != code || a.reason != reason:
		return false, s
	case code >= http.StatusBadRequest:
		return true, s
	case q.reads():
		return s.read(q, a)
	case q.verb == "sweep": // it was there when it was listed, if no longer when it was its turn
		return true, after
	case q.dry:
		return s.rehearsed(q, a, after)
	case q.verb == "delete":
		return s.deleted(a, after)
	}
	return s.written(q, a, after)
}

// serve is the code of the answer, and the state after the request if it is no
// dry run. Nobody was told yet what the server makes up.
func (s state) serve(q question) (int, metav1.StatusReason, state) {
	after := state{there: true, next: s.next + 1, content: s.content}
	switch {
	case q.verb == "list", q.reads() && s.there, q.verb == "sweep" && !s.there:
		return http.StatusOK, "", s
	case !s.there && (q.verb == "create" || q.verb == "apply"):
		after.content = text(q.set)
		return http.StatusCreated, "", after
	case !s.there:
		return http.StatusNotFound, metav1.StatusReasonNotFound, s
	case q.verb == "create":
		return http.StatusConflict, metav1.StatusReasonAlreadyExists, s
	case q.rv != 0 && q.rv != s.rv, q.uid != "" && q.uid != s.uid:
		// Also where nobody was told: what a client sends it was told of before,
		// so that it is of an older state.
		return http.StatusConflict, metav1.StatusReasonConflict, s
	case q.verb == "json" && annotations(s.content)["serial"] != q.test:
		return http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, s
	case q.verb == "delete", q.verb == "sweep":
		return http.StatusOK, "", state{uid: s.uid, next: after.next}
	case q.verb == "put":
		after.content = text(withStatus(q.set, s.content))
	default:
		merged := annotations(s.content)
		maps.Copy(merged, q.set)
		after.content = text(merged)
	}
	after.uid = s.uid
	return http.StatusOK, "", after
}

// read is a get or a list that saw the present.
func (s state) read(q question, a tell) (bool, state) {
	if a.object != s.there {
		return false, s
	}
	ok, after := true, s
	if a.object {
		ok, after = s.shown(a, q.sees(s.content))
	}
	if a.at != 0 { // a list is of a revision that no write is older than
		ok = ok && a.at+1 >= after.next
		after.next = max(after.next, a.at+1)
	}
	return ok, after
}

// shown is the object as it is. What nobody was told before is known from now on.
func (s state) shown(a tell, content string) (bool, state) {
	ok := a.object && a.content == content && (s.uid == "" || a.uid == s.uid)
	if s.rv == 0 {
		ok = ok && a.rv+1 >= s.next // next is beyond the write that nobody was told of
	} else {
		ok = ok && a.rv == s.rv
	}
	s.uid, s.rv, s.next = a.uid, a.rv, max(s.next, a.rv+1)
	return ok, s
}

// rehearsed is a dry run: it shows what would be, at the revision of what is.
func (s state) rehearsed(q question, a tell, after state) (bool, state) {
	switch {
	case !s.there:
		return a.object && a.rv == 0 && a.content == after.content, s
	case q.verb == "delete" && !a.object:
		return s.uid == "" || a.uid == s.uid, s
	}
	want := after.content
	if q.verb == "delete" {
		want = s.content
	}
	return s.shown(a, q.sees(want))
}

// deleted answers with the object at the revision of its end, or with a Status.
func (s state) deleted(a tell, after state) (bool, state) {
	ok := s.uid == "" || a.uid == s.uid
	after.uid = a.uid
	if a.object {
		ok = ok && a.content == s.content && a.rv >= s.next
		after.next = a.rv + 1
	}
	return ok, after
}

// written is an object that was created or changed, or was like that before.
func (s state) written(q question, a tell, after state) (bool, state) {
	ok := a.object && a.content == q.sees(after.content) && a.uid != ""
	if s.there {
		ok = ok && (s.uid == "" || a.uid == s.uid)
	} else {
		ok = ok && a.uid != s.uid // not the one that was here last
	}
	if unchanged := s.there && s.content == after.content && s.rv != 0 && a.rv == s.rv; !unchanged {
		ok = ok && a.rv >= s.next
	}
	after.uid, after.rv, after.next = a.uid, a.rv, max(s.next, a.rv+1)
	return ok, after
}

// withStatus is a content with the status of another, which only a write of the status
// changes.
func withStatus(set map[string]string, content string) map[string]string {
	status, ok := annotations(content)["/status"]
	if set = maps.Clone(set); ok {
		set["/status"] = status
	}
	return set
}

func text(annotations map[string]string) string {
	b, err := json.Marshal(annotations)
	if err != nil {
		panic(err) // strings always are JSON
	}
	return string(b)
}

func annotations(text string) map[string]string {
	m := map[string]string{}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err) // it is from the function above
	}
	return m
}
