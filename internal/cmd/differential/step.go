package differential

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Step is one request of a sequence. Its texts may contain references, which each side replaces by
// values of its own:
//
//	{ns}, {group}            the namespace and the API group of the sequence
//	{rv NAME}, {uid NAME}    the resourceVersion and the uid of the object RESOURCE/NAME, as it was
//	                         last received
//	{rv0 NAME}               the resourceVersion that was received first
//	{rv list}, {continue}    the resourceVersion of the last list, and its continue token
//
// A reference to something that was not received is replaced by "none".
type Step struct {
	Method string   `json:"method"`
	Path   string   `json:"path"`
	Query  []string `json:"query,omitempty"`
	// ContentType and Accept are the headers. If they are empty, they are not sent.
	ContentType string `json:"contentType,omitempty"`
	Accept      string `json:"accept,omitempty"`
	Body        string `json:"body,omitempty"`
	// Resend is the object, RESOURCE/NAME, that is sent as it was last received. A Body is a merge
	// patch that is applied to it first.
	Resend string `json:"resend,omitempty"`
	// Watch is true if the response is a stream of watch events, which is read until the end of the
	// sequence.
	Watch bool `json:"watch,omitempty"`
}

// String returns the step as an HTTP request.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.Method, s.url())
	for _, header := range [][2]string{{"Content-Type", s.ContentType}, {"Accept", s.Accept}} {
		if header[1] != "" {
			fmt.Fprintf(&b, "\n%s: %s", header[0], header[1])
		}
	}
	switch {
	case s.Resend != "" && s.Body != "":
		fmt.Fprintf(&b, "\n\n(%s as last received, with this merge patch) %s", s.Resend, s.Body)
	case s.Resend != "":
		fmt.Fprintf(&b, "\n\n(%s as last received)", s.Resend)
	case s.Body != "":
		fmt.Fprintf(&b, "\n\n%s", s.Body)
	}
	return b.String()
}

// url returns the path and the query.
func (s Step) url() string {
	if len(s.Query) == 0 {
		return s.Path
	}
	return s.Path + "?" + strings.Join(s.Query, "&")
}

// reference matches the references in the texts of a step.
var reference = regexp.MustCompile(`\{(ns|group|continue|(?:rv|rv0|uid) [a-z0-9/.-]+)\}`)

// received is what a side has received of one object.
type received struct {
	first, last, uid string
	body             []byte
}

// memory has the values of one side that references stand for.
type memory struct {
	names   map[string]string // of ns, group and continue, and "rv list"
	objects map[string]*received
}

func newMemory(namespace, group string) *memory {
	return &memory{names: map[string]string{"ns": namespace, "group": group}, objects: map[string]*received{}}
}

// expand replaces the references in text.
func (m *memory) expand(text string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		name := found[1 : len(found)-1]
		if value, ok := m.names[name]; ok {
			return value
		}
		field, object, _ := strings.Cut(name, " ")
		got := m.objects[object]
		if got == nil {
			return "none"
		}
		switch field {
		case "rv0":
			return got.first
		case "uid":
			return got.uid
		}
		return got.last
	})
}

// body returns the body of a request.
func (m *memory) body(s Step) []byte {
	if s.Resend == "" {
		return []byte(m.expand(s.Body))
	}
	got := m.objects[s.Resend]
	if got == nil {
		return []byte("{}")
	}
	if s.Body == "" {
		return got.body
	}
	edited, err := jsonpatch.MergePatch(got.body, []byte(m.expand(s.Body)))
	if err != nil {
		return []byte("{}")
	}
	return edited
}

// add stores what later references need of a response to a request for resource.
func (m *memory) add(resource string, body []byte) {
	var object struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name            string  `json:"name"`
			UID             string  `json:"uid"`
			ResourceVersion string  `json:"resourceVersion"`
			Continue        *string `json:"continue"`
		} `json:"metadata"`
		Items *json.RawMessage `json:"items"`
	}
	if json.Unmarshal(body, &object) != nil {
		return
	}
	metadata := &object.Metadata
	switch {
	case object.Items != nil:
		m.names["rv list"] = metadata.ResourceVersion
		m.names["continue"] = ""
		if metadata.Continue != nil {
			m.names["continue"] = *metadata.Continue
		}
	case metadata.UID != "" && metadata.ResourceVersion != "" && object.Kind != "PartialObjectMetadata":
		name := resource + "/" + metadata.Name
		got := m.objects[name]
		if got == nil || got.uid != metadata.UID {
			got = &received{first: metadata.ResourceVersion}
			m.objects[name] = got
		}
		got.last, got.uid, got.body = metadata.ResourceVersion, metadata.UID, body
	}
}
