package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/webhookclient"
)

// The names of the library's spans and of the events in them.
const (
	mutatingSpan   = "Call mutating webhook"
	validatingSpan = "Call validating webhook"
	patchApplied   = "Patch applied"
)

// in returns a context in which the library's spans of calls are made by t.
func (t *tracer) in(ctx context.Context) context.Context {
	return trace.ContextWithSpan(ctx, parentSpan{tracer: t})
}

// parentSpan is the parent of the spans of calls. It leads the library to the tracer.
type parentSpan struct {
	noop.Span
	tracer *tracer
}

// TracerProvider implements trace.Span.
func (s parentSpan) TracerProvider() trace.TracerProvider { return tracerProvider{tracer: s.tracer} }

type tracerProvider struct {
	noop.TracerProvider
	tracer *tracer
}

// Tracer implements trace.TracerProvider.
func (p tracerProvider) Tracer(string, ...trace.TracerOption) trace.Tracer { return p.tracer }

// tracer begins the spans of the calls for one write.
type tracer struct {
	noop.Tracer
	plugin *plugin
	state  *state
	attrs  *admission.Attributes

	refusals refusals
	called   calledWebhooks
}

// Start implements trace.Tracer.
func (t *tracer) Start(ctx context.Context, span string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if span != mutatingSpan && span != validatingSpan {
		return ctx, noop.Span{}
	}
	c := &call{tracer: t, ctx: ctx, begin: time.Now()}
	config := trace.NewSpanStartConfig(options...)
	for _, a := range config.Attributes() {
		c.set(a)
	}
	t.called.add(c)
	ctx = context.WithValue(webhookclient.WithName(ctx, c.webhook.name), callKey{}, c)
	return trace.ContextWithSpan(ctx, c), c
}

type callKey struct{}

// call is one call of a webhook, and its span.
type call struct {
	noop.Span
	tracer  *tracer
	ctx     context.Context // of the write
	webhook webhookName
	uid     types.UID // of the AdmissionReview
	begin   time.Time
	// patched reports whether the patch of the response was applied.
	patched bool

	// err is the error of the last request, or the others are its response.
	err         error
	code        int
	contentType string
	body        []byte
	// decided is the decision, if the library got another response.
	decided *admission.Decision
}

// set sets what an attribute of the span says.
func (c *call) set(a attribute.KeyValue) {
	switch a.Key {
	case "configuration":
		c.webhook.configuration = a.Value.AsString()
	case "webhook":
		c.webhook.name = a.Value.AsString()
	case "UID":
		c.uid = types.UID(a.Value.AsString())
	}
}

// AddEvent implements trace.Span.
func (c *call) AddEvent(name string, _ ...trace.EventOption) {
	c.patched = c.patched || name == patchApplied
}

// End implements trace.Span.
func (c *call) End(...trace.SpanEndOption) {
	d := c.decided
	if d == nil {
		d = new(c.decision())
	}
	c.tracer.plugin.Observe(c.ctx, *d)
}

// recordResponse is the Intercept function of the network. It keeps the response in the call, and
// returns that for the library.
func (p *plugin) recordResponse(webhook string, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	send := next.RoundTrip
	if p.Network.Intercept != nil {
		send = func(r *http.Request) (*http.Response, error) { return p.Network.Intercept(webhook, r, next) }
	}
	c, ok := r.Context().Value(callKey{}).(*call)
	if !ok {
		return nil, fmt.Errorf("the request for %s is not part of a call", r.URL)
	}
	response, err := send(r)
	c.err, c.code, c.contentType, c.body = err, 0, "", nil
	if err != nil {
		return c.forLibrary(r, nil, err)
	}
	c.code, c.contentType = response.StatusCode, response.Header.Get("Content-Type")
	c.body, c.err = io.ReadAll(response.Body)
	if err := response.Body.Close(); c.err == nil {
		c.err = err
	}
	response.Body = io.NopCloser(bytes.NewReader(c.body))
	if c.err != nil {
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(c.body), failingReader{c.err}))
	}
	return c.forLibrary(r, response, nil)
}

// failingReader is a reader that returns an error.
type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// patchOperations returns the changes that a JSON patch makes.
func patchOperations(patch []byte) (changes []admission.Change) {
	var operations []struct {
		Op, Path, From string
		Value          json.RawMessage
	}
	if json.Unmarshal(patch, &operations) != nil {
		return nil
	}
	for _, o := range operations {
		if o.From != "" {
			o.Value = json.RawMessage(o.From)
		}
		changes = append(changes, admission.Change{Op: o.Op, Path: o.Path, Value: string(o.Value)})
	}
	return changes
}
