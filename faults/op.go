package faults

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/requestinfo"
)

// Phase is a point in the processing of a request at which rules are evaluated.
type Phase uint8

const (
	// Before is the phase in which the request has arrived and has not been handled.
	Before Phase = iota
	// Committed is the phase in which the handler has completed its response, so that a write is
	// stored, and no byte of the response has been sent. Watches, logs, exec, attach, port-forward
	// and proxied requests do not have this phase, because their responses have no fixed end.
	Committed
	// Stream is the phase in which one frame of a watch is about to be sent.
	Stream
)

// String returns the argument of during(): before, committed or stream.
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown"
}

var phaseNames = [...]string{Before: "before", Committed: "committed", Stream: "stream"}

// phaseSet is a set of phases with one bit for each.
type phaseSet uint8

const (
	noPhases  phaseSet = 0
	allPhases phaseSet = 1<<Before | 1<<Committed | 1<<Stream
)

func phaseSetOf(p Phase) phaseSet   { return 1 << p }
func (s phaseSet) has(p Phase) bool { return s&phaseSetOf(p) != 0 }

// list returns the phases in the order in which a request passes them.
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

// Op is the operation that rules match: one request in one of its phases, one frame of a watch, or
// one call of a webhook. It does not contain the body of the request.
type Op struct {
	Phase Phase
	// Webhook is the name of the webhook that is called, otherwise "": the name of an admission
	// webhook, or that of the CustomResourceDefinition whose objects are converted. All other fields
	// but Phase and Code are then those of the request that caused the call, or empty if it is not
	// known. See [Webhook].
	Webhook string
	// Verb is get, list, watch, create, update, patch, delete or deletecollection. It is "" for a
	// request that is not a resource request, such as discovery and health checks, and for a method
	// that the path does not support.
	Verb string
	// Group, Resource and Subresource are those of the request. Group is "" for the core group, and
	// Resource is the plural name.
	Group, Resource, Subresource string
	// Namespace and Name are those of the request; for a frame, those of its object. A list or
	// watch with a field selector for one metadata.name has that name, as in kube-apiserver. A
	// create has no name, because the name of the new object is only in the body.
	Namespace, Name string
	// Path is the URL path as sent by the client.
	Path      string
	UserAgent string
	// Query has the parameters of the URL. It is nil if there are none.
	Query url.Values
	// Code is the HTTP status code of the response in the Committed phase, otherwise 0.
	Code int
	// Event is the type of the frame in the Stream phase, otherwise "".
	Event watch.EventType
	// InitialEventsEnd is true for the bookmark that ends the initial events of a watch (annotation
	// k8s.io/initial-events-end, BM-06).
	InitialEventsEnd bool
	// InitialEvents is true for the initial events of a watch with sendInitialEvents=true and
	// allowWatchBookmarks=true, up to the bookmark that ends them. It is false for all frames after
	// one that was sent while no rule could match it.
	InitialEvents bool
}

// NewOp returns the operation of a request in the Before phase.
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

// objectKey identifies the object for random sequences.
func (op Op) objectKey() string {
	key := op.Group + "/" + op.Resource + "/" + op.Namespace + "/" + op.Name
	if op.Webhook != "" {
		return op.Webhook + "/" + key
	}
	return key
}

// String describes the operation in one short line, without the query and without anything that
// differs between equal runs.
func (op Op) String() string {
	if op.Webhook != "" {
		call := "webhook " + op.Webhook
		if op.Webhook = ""; op.Path != "" {
			call += " for " + op.String()
		}
		return call
	}
	if op.Resource == "" {
		return "request " + op.Path
	}
	var b strings.Builder
	verb := op.Verb
	if verb == "" {
		verb = "request"
	}
	b.WriteString(verb + " " + schema.GroupResource{Group: op.Group, Resource: op.Resource}.String())
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
