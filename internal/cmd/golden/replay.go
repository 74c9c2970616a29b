package golden

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// Player replays cases against one server. Its methods may be called concurrently.
type Player struct {
	// BaseURL is the URL that the paths of a case are appended to, without a trailing slash.
	BaseURL string
	// Client sends the requests; nil means http.DefaultClient. Redirects are never followed.
	Client *http.Client
	// Compact compacts the server's history. If it is nil, cases that compact fail.
	Compact func(context.Context) error
	// Webhook is the admission webhook of cases that need one. If it is nil, they fail.
	Webhook *Webhook
	// Namespace is the namespace that is created for a case. If it is "", each case gets a random
	// one.
	Namespace string
	// Ignore are paths of fields, like "metadata.managedFields", that are not compared. They match
	// at any depth of a JSON body or event.
	Ignore []string
}

// Result is the result of replaying a case.
type Result struct {
	// Steps are the steps that were played, including set-up, by Number.
	Steps []StepResult
	// Err is the error that ended the case early, or nil.
	Err error
	// Leftovers are objects that the clean-up could not delete.
	Leftovers []string
}

// StepResult is the result of a step.
type StepResult struct {
	// Number counts the requests of a case from 1, in the order in which they are sent. Compactions
	// and skipped steps are not counted.
	Number int
	// Name is the request, with placeholders, and the note of the step.
	Name string
	// Setup is Step.Setup.
	Setup bool
	// Differences are the differences from the recording.
	Differences httpdiff.Differences
}

// Differing returns the steps that have differences.
func (r Result) Differing() (steps []StepResult) {
	for _, s := range r.Steps {
		if len(s.Differences) > 0 {
			steps = append(steps, s)
		}
	}
	return steps
}

// Same reports whether the whole case was played without differences.
func (r Result) Same() bool { return r.Err == nil && len(r.Differing()) == 0 }

// Play replays a case. It takes at least as long as the pauses and watches of the case. If ctx is
// canceled it ends early, with an error in the result. It always tries to delete the namespace and
// the collections that the case used in it.
func (p Player) Play(ctx context.Context, c Case) Result {
	r := &replay{
		player:        p,
		canonicalizer: httpdiff.NewCanonicalizer(p.Ignore),
		placeholders:  httpdiff.NewPlaceholders(cmp.Or(p.Namespace, randomNamespace()), c.CompareRV),
		client:        p.client(),
	}
	if p.Webhook != nil {
		for symbol, value := range p.Webhook.placeholders() {
			r.placeholders.Fix(symbol, value)
		}
	} else if c.NeedsWebhook() {
		r.result.Err = errors.New("the case needs a webhook, but the player has none")
		return r.result
	}
	if r.result.Err = r.createNamespace(ctx); r.result.Err != nil {
		return r.result
	}
	r.steps(ctx, c.Steps)
	r.cleanUp(context.WithoutCancel(ctx), c)
	return r.result
}

// client returns a client that does not follow redirects.
func (p Player) client() http.Client {
	client := *cmp.Or(p.Client, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// replay is the state of a case while it is played.
type replay struct {
	player        Player
	client        http.Client
	canonicalizer httpdiff.Canonicalizer
	placeholders  *httpdiff.Placeholders
	result        Result
}

// steps plays a list of steps until one fails to be played.
func (r *replay) steps(ctx context.Context, steps []Step) {
	for _, s := range steps {
		if r.result.Err != nil {
			return
		}
		switch {
		case s.Skip != "":
			continue
		case pause(ctx, s.SettleMs) != nil:
			r.result.Err = fmt.Errorf("before step %d: %w", len(r.result.Steps)+1, ctx.Err())
		case s.Compact:
			r.result.Err = r.compact(ctx)
		default:
			r.number(ctx, s)
		}
	}
}

// comparedHeaders are the response headers that are compared.
var comparedHeaders = []string{"Allow", "Content-Encoding", "Content-Type", "Location", "Retry-After", "Warning"}

// failed returns the difference of a step that could not be played.
func failed(err error) httpdiff.Differences { return httpdiff.Differences{{Note: err.Error()}} }

// number plays a step and records its result. It assigns the number first, because other steps may
// run during this one.
func (r *replay) number(ctx context.Context, s Step) {
	at := len(r.result.Steps)
	name := s.Request.Method + " " + s.Request.Path
	if s.Note != "" {
		name += " (" + s.Note + ")"
	}
	r.result.Steps = append(r.result.Steps, StepResult{Number: at + 1, Name: name, Setup: s.Setup})
	d := r.step(ctx, s)
	r.result.Steps[at].Differences = d
}

// step sends a request and compares the response.
func (r *replay) step(ctx context.Context, s Step) (d httpdiff.Differences) {
	// Canceling own ends a stream that is still open. The steps during it use ctx.
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := r.sendStep(own, s)
	if err != nil {
		r.steps(ctx, s.During)
		return failed(err)
	}
	defer func() { _ = response.Body.Close() }()
	streams := s.Watch != nil && response.StatusCode == http.StatusOK
	if response.StatusCode != s.Response.Code {
		d = append(d, httpdiff.Difference{
			At: "code", Left: fmt.Sprint(s.Response.Code), Right: fmt.Sprintf("%d: %s", response.StatusCode, firstBytes(response, streams)),
		})
		cancel()
		r.steps(ctx, s.During)
		return d
	}
	r.placeholders.CompareHeaders(comparedHeaders, s.Response.Headers, response.Header, &d)
	if streams {
		events := stream(own, response)
		r.steps(ctx, s.During)
		got, end := collect(events, *s.Watch, s.Response)
		r.compareEvents(s.Response, got, end, &d)
	} else {
		r.compareBody(s.Response, response, &d)
		r.steps(ctx, s.During)
	}
	if ctx.Err() != nil {
		return failed(ctx.Err())
	}
	if s.Setup {
		return nil
	}
	return d
}

func (r *replay) compareBody(want Response, response *http.Response, d *httpdiff.Differences) {
	body, err := httpdiff.ReadBody(response)
	if err != nil {
		d.Addf("body", "%v", err)
		return
	}
	r.placeholders.Compare("body", r.canonicalizer.Body(want.Body), r.canonicalizer.Body(httpdiff.BodyAs(want.BodyAs, body)), d)
}

// firstBytes returns the beginning of an unexpected response.
func firstBytes(response *http.Response, streams bool) string {
	if streams {
		return "a stream"
	}
	body, err := httpdiff.ReadBody(response)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.300s", body)
}

func (r *replay) compact(ctx context.Context) error {
	if r.player.Compact == nil {
		return errors.New("the case compacts, but the player has no Compact function")
	}
	if err := r.player.Compact(ctx); err != nil {
		return fmt.Errorf("compacting: %w", err)
	}
	return nil
}

// createNamespace creates the namespace of the case. Any response but a server error is accepted,
// because the namespace may exist or the server may not have namespaces.
func (r *replay) createNamespace(ctx context.Context) error {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	response, err := r.send(ctx, Request{
		Method:   http.MethodPost,
		Path:     "/api/v1/namespaces",
		Headers:  map[string]string{"Content-Type": "application/json"},
		BodyText: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"$ns"}}`,
	})
	if err != nil {
		return fmt.Errorf("creating the namespace: %w", err)
	}
	_ = response.Body.Close()
	if response.StatusCode >= 500 {
		return fmt.Errorf("creating the namespace: %s", response.Status)
	}
	return nil
}

// pause waits, or returns the context's error.
func pause(ctx context.Context, milliseconds int) error {
	if milliseconds > 0 {
		select {
		case <-time.After(time.Duration(milliseconds) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// randomNamespace returns a unique name.
func randomNamespace() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	var name strings.Builder
	name.WriteString("t-")
	for range 8 {
		name.WriteByte(letters[rand.IntN(len(letters))])
	}
	return name.String()
}
