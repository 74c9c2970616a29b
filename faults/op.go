package faults

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/requestinfo"
)

// Phase is the moment in the life of a request at which a rule looks at it.
type Phase uint8

const (
	// Before is the moment a request has arrived and nothing has been done.
	Before Phase = iota
	// Committed is the moment the handler has produced its whole answer, so
	// that a write is in the store, and not a byte of the answer is sent. A
	// watch never gets there, nor do logs, exec, attach, port-forward and
	// proxied requests: their answers have no end to wait for.
	Committed
	// Stream is the moment one frame of a watch is about to be sent.
	Stream
)

// String gives the word that during() takes: before, committed or stream.
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown"
}

var phaseNames = [...]string{Before: "before", Committed: "committed", Stream: "stream"}

// phaseSet is a set of phases, one bit each.
type phaseSet uint8

const (
	noPhases  phaseSet = 0
	allPhases phaseSet = 1<<Before | 1<<Committed | 1<<Stream
)

func phaseSetOf(p Phase) phaseSet   { return 1 << p }
func (s phaseSet) has(p Phase) bool { return s&phaseSetOf(p) != 0 }

// list gives the phases in the order of a request's life.
func (s phaseSet) list() (l []Phase) {
	for _, p := range []Phase{Before, Committed, Stream} {
		if s.has(p) {
			l = append(l, p)
		}
	}
	return l
}

func (s phaseSet) String() string {
	var names []string
	for _, p := range s.list() {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// Op is what rules see: one request, at one of its phases, or one frame of a
// watch. It is data; rules never see bodies of requests.
type Op struct {
	Phase Phase
	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection; "" for a request that is not for objects, such as
	// discovery and health, and for a method that has no meaning on its path.
	Verb string
	// Group, Resource and Subresource say what kind of object; Group is "" for
	// the core group, Resource is the plural.
	Group, Resource, Subresource string
	// Namespace and Name are those of the request, for a frame those of its
	// object. A list or watch with a field selector for one metadata.name has
	// that name, as in a real server. The name of an object to be created
	// stands in the body only, so a create has none.
	Namespace, Name string
	// Path is the URL path as sent.
	Path      string
	UserAgent string
	// Query holds the parameters of the request, nil if there are none.
	Query url.Values
	// Code is the HTTP code of the answer in the Committed phase, else 0.
	Code int
	// Event is the type of the frame in the Stream phase, else "".
	Event watch.EventType
	// InitialEventsEnd tells the bookmark that ends the initial events of a
	// watch (annotation k8s.io/initial-events-end, rule BM-06).
	InitialEventsEnd bool
}

// NewOp reads a request; its Phase is Before.
func NewOp(r *http.Request) Op {
	var query url.Values
	if r.URL.RawQuery != "" {
		query = r.URL.Query()
	}
	t := requestinfo.FromRequest(r)
	op := Op{
		Group:       t.Group,
		Resource:    t.Resource,
		Subresource: t.Subresource,
		Namespace:   t.Namespace,
		Name:        t.Name,
		Path:        r.URL.Path,
		UserAgent:   r.UserAgent(),
		Query:       query,
	}
	if t.IsResourceRequest() {
		op.Verb = t.Verb
	}
	if selector := query.Get("fieldSelector"); selector != "" && op.Name == "" {
		op.Name = requestinfo.SelectedName(selector)
	}
	return op
}

// objectKey names the object, for the randomness that is kept per object.
func (op Op) objectKey() string {
	return op.Group + "/" + op.Resource + "/" + op.Namespace + "/" + op.Name
}

// groupResource is the plural with its group, "pods" or "deployments.apps".
func (op Op) groupResource() string {
	if op.Group == "" {
		return op.Resource
	}
	return op.Resource + "." + op.Group
}

// String names the operation in one short line, without the query and without
// anything that differs between two runs of the same story.
func (op Op) String() string {
	if op.Resource == "" {
		return "request " + op.Path
	}
	var b strings.Builder
	verb := op.Verb
	if verb == "" {
		verb = "request"
	}
	b.WriteString(verb + " " + op.groupResource())
	if op.Subresource != "" {
		b.WriteString("/" + op.Subresource)
	}
	if op.Event != "" {
		b.WriteString(" " + string(op.Event))
	}
	if op.Name != "" {
		b.WriteString(" " + op.Name)
	}
	if op.Namespace != "" {
		b.WriteString(" in " + op.Namespace)
	}
	return b.String()
}
