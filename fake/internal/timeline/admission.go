package timeline

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/internal/requestinfo"
)

// The limits of decisions.
const (
	// MaxDecisions is the maximum number of decisions of an exchange, and MaxAdmissionBytes that of
	// the bytes of their texts. The oldest ones are dropped.
	MaxDecisions      = 100
	MaxAdmissionBytes = 16 << 10
	// MaxDecisionBytes is the maximum number of bytes of the texts of a decision.
	MaxDecisionBytes = 4 << 10

	maxMessageBytes = 1 << 10
	maxTextBytes    = 256 // of the value of a change or an annotation, and of a warning
	changeCost      = 48  // the memory of a change, a warning or an annotation without its bytes
)

// AdmissionDecision is what an admission webhook or an admission policy decided about a write.
type AdmissionDecision struct {
	// Begin is when the call or the evaluation began, and Duration how long it took.
	Begin    time.Time
	Duration time.Duration
	// Order is the order of the end of the call among exchanges and frames.
	Order uint64
	// Plugin is the name of the admission plugin. Configuration is the name of the webhook
	// configuration or of the binding, and Name that of the webhook or the policy.
	Plugin, Configuration, Name string
	// Operation is CREATE, UPDATE, DELETE or CONNECT. Object is what was written, such as
	// "configmaps default/a".
	Operation, Object string
	// Reinvoked reports whether this is the second call for the same write.
	Reinvoked bool
	// Outcome is allowed, denied, failed, ignored (failed, but the write went on), warned or audited.
	Outcome string
	// Code is the HTTP status code, or 0 if there is none. Message is the text of a denial or failure.
	Code    int
	Message string
	// Changes has the changes of the object.
	Changes []AdmissionChange
	// Warnings and AuditAnnotations are those of the response.
	Warnings         []string
	AuditAnnotations map[string]string
	// Dropped counts the changes, warnings and annotations that were dropped to limit the memory.
	Dropped int
}

// AdmissionChange is one change of an object.
type AdmissionChange struct {
	// Op is the operation, such as add, remove or replace. Path is a JSON pointer. Value is the JSON
	// of the new value, or the beginning of it; for move and copy it is the path of the source.
	Op, Path, Value string
}

// validatingWebhooks is the name of the plugin whose calls are concurrent.
const validatingWebhooks = "ValidatingAdmissionWebhook"

// AddDecision adds a decision to the exchange of the request that ctx belongs to. The decision
// about a write of the server itself becomes a note. target is what was written; if it is empty, it
// is that of the request.
func (r *Recorder) AddDecision(ctx context.Context, d AdmissionDecision, target requestinfo.RequestInfo) {
	x, _ := ctx.Value(contextKey{}).(*recording)
	if x != nil && target.Resource == "" {
		target = x.info
	}
	d.Object = objectOf(target)
	d.trim()
	if fields := secretFieldsOf(target); fields != nil {
		d.redact(fields)
	}
	if x == nil {
		r.AddNote(Note{Source: "server", Text: d.line("")})
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	d.Order = r.pool.order.Add(1)
	if x.admission == nil {
		x.admission = &decisions{}
	}
	x.admission.add(d)
}

// objectOf returns the text of an object.
func objectOf(info requestinfo.RequestInfo) string {
	text := info.QualifiedResource()
	if info.Namespace != "" && info.Resource != "namespaces" {
		return text + " " + info.Namespace + "/" + info.Name
	}
	return strings.TrimSuffix(text+" "+info.Name, " ")
}

// decisions are the decisions of an exchange.
type decisions struct {
	list    []AdmissionDecision
	size    int // of the texts in list
	dropped uint64
}

// add adds a decision. Webhooks that are called at the same time are in the order of their names if
// their calls end at the same time too.
func (l *decisions) add(d AdmissionDecision) {
	l.list, l.size = append(l.list, d), l.size+d.size()
	for i := len(l.list) - 1; i > 0 && l.list[i].before(&l.list[i-1]); i-- {
		a, b := &l.list[i-1], &l.list[i]
		*a, *b = *b, *a
		a.Order, b.Order = b.Order, a.Order
	}
	drop := 0
	for len(l.list)-drop > MaxDecisions || l.size > MaxAdmissionBytes {
		l.size -= l.list[drop].size()
		drop++
	}
	l.list = slices.Delete(l.list, 0, drop)
	l.dropped += uint64(drop)
}

// before reports whether d belongs before the decision that was added before it.
func (d *AdmissionDecision) before(other *AdmissionDecision) bool {
	return d.Plugin == validatingWebhooks && other.Plugin == validatingWebhooks && cmp.Or(
		d.end().Compare(other.end()), cmp.Compare(d.Object, other.Object),
		cmp.Compare(d.Configuration, other.Configuration), cmp.Compare(d.Name, other.Name)) < 0
}

// end returns when the decision was made.
func (d *AdmissionDecision) end() time.Time { return d.Begin.Add(d.Duration) }

// size returns the memory of the texts.
func (d *AdmissionDecision) size() int {
	n := len(d.Configuration) + len(d.Name) + len(d.Object) + len(d.Message)
	for _, c := range d.Changes {
		n += changeCost + len(c.Path) + len(c.Value)
	}
	for _, w := range d.Warnings {
		n += changeCost + len(w)
	}
	for key, value := range d.AuditAnnotations {
		n += changeCost + len(key) + len(value)
	}
	return n
}

// trim cuts off texts that are too long, and drops those that do not fit in MaxDecisionBytes.
func (d *AdmissionDecision) trim() {
	all := *d
	d.Message, d.Changes, d.Warnings, d.AuditAnnotations = cut(all.Message, maxMessageBytes), nil, nil, nil
	room := MaxDecisionBytes - d.size()
	fits := func(texts ...string) bool {
		room -= changeCost
		for _, text := range texts {
			room -= len(text)
		}
		if room < 0 {
			d.Dropped++
		}
		return room >= 0
	}
	for _, c := range all.Changes {
		if c.Value = cut(c.Value, maxTextBytes); fits(c.Path, c.Value) {
			d.Changes = append(d.Changes, c)
		}
	}
	for _, w := range all.Warnings {
		if w = cut(w, maxTextBytes); fits(w) {
			d.Warnings = append(d.Warnings, w)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all.AuditAnnotations)) {
		if value := cut(all.AuditAnnotations[key], maxTextBytes); fits(key, value) {
			if d.AuditAnnotations == nil {
				d.AuditAnnotations = make(map[string]string)
			}
			d.AuditAnnotations[key] = value
		}
	}
}

// cut returns the beginning of a text. It does not keep the memory of the rest.
func cut(text string, limit int) string {
	if len(text) > limit {
		text = strings.Clone(text[:limit])
	}
	return strings.ToValidUTF8(text, "")
}

// redact removes the secrets of the object, and texts that may quote them.
func (d *AdmissionDecision) redact(fields *secretFields) {
	for i, c := range d.Changes {
		d.Changes[i].Value = fields.redactChange(c)
	}
	if d.Message != "" && (d.Outcome != "denied" || quotesRequest(d.Code)) {
		d.Message = requestinfo.Redacted
	}
	for i := range d.Warnings {
		d.Warnings[i] = requestinfo.Redacted
	}
	for key := range d.AuditAnnotations {
		d.AuditAnnotations[key] = requestinfo.Redacted
	}
}

// redactChange returns the value of a change without secrets.
func (f *secretFields) redactChange(c AdmissionChange) string {
	isSecret := func(step string) bool {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		return slices.ContainsFunc(f.names, func(name string) bool { return strings.EqualFold(name, step) })
	}
	if c.Value == "" {
		return ""
	}
	if !slices.ContainsFunc(strings.Split(c.Path, "/"), isSecret) {
		if text, _ := f.redactJSON([]byte(c.Value)); len(text) > 0 {
			return string(text)
		}
	}
	return `"` + requestinfo.Redacted + `"`
}
