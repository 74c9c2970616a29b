package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"k8s.io/apimachinery/pkg/util/rand"

	"example.com/fakeapi/conformance"
)

// Side is one of two servers that the suite is run on.
type Side struct {
	// Name is what reports call it.
	Name string
	// Config is how it is reached, and what is to be run there. Client and Ended are made use of by the comparison; what they were goes on to work.
	Config conformance.Config
}

// caseRun is what one side made of a case.
type caseRun struct {
	result    conformance.Result
	exchanges []*exchange
	run, host string
}

// Suites runs the suite on two servers side by side and compares what they answer to each case. Which cases there are, and under which names, says the
// left configuration; that of the right has to select the same. Told is called with each case when it was compared, and may be nil. The
// error is about the comparison itself: a configuration that cannot be used, or a context that ended; the report then holds what was done.
func Suites(ctx context.Context, left, right Side, onCase func(Case)) (*Report, error) {
	// The names have to be the same in where they are sorted, and in length, but two sides may be one server.
	id := rand.String(4)
	left.Config.RunID, right.Config.RunID = id+"2", id+"4"
	l, err := newRunner(left)
	if err != nil {
		return nil, err
	}
	r, err := newRunner(right)
	if err != nil {
		return nil, err
	}
	selected := l.config.SelectedCases()
	if len(r.config.SelectedCases()) != len(selected) {
		return nil, errors.New("the two sides select other cases")
	}
	var running sync.WaitGroup
	running.Go(func() { l.run(ctx) })
	running.Go(func() { r.run(ctx) })
	report := &Report{}
	for range selected {
		one := compareCase(<-l.cases, <-r.cases, cmp.Or(l.config.NamespacePrefix, "conformance"))
		report.Cases = append(report.Cases, one)
		if onCase != nil {
			onCase(one)
		}
	}
	running.Wait()
	report.Left, report.Right = l.endpoint, r.endpoint
	return report, context.Cause(ctx)
}

// runner runs the suite on one side.
type runner struct {
	config   conformance.Config
	recorder *recorder
	cases    chan caseRun
	endpoint Endpoint
}

func newRunner(side Side) (*runner, error) {
	if err := side.Config.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", side.Name, err)
	}
	base, err := url.Parse(side.Config.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", side.Name, err)
	}
	if side.Config.Client == nil {
		side.Config.Client = http.DefaultClient
	}
	next := side.Config.Client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	r := &runner{config: side.Config, recorder: newRecorder(next, base.Path), cases: make(chan caseRun), endpoint: Endpoint{Name: side.Name}}
	client := *side.Config.Client
	client.Transport = r.recorder
	r.config.Client = &client
	r.config.CaseFinished = func(result conformance.Result) {
		if side.Config.CaseFinished != nil {
			side.Config.CaseFinished(result)
		}
		r.cases <- caseRun{result: result, exchanges: r.recorder.remove(result.Case.ID), run: r.config.RunID, host: base.Host}
	}
	return r, nil
}

// run runs the cases, each of which waits until it is compared.
func (r *runner) run(ctx context.Context) {
	report, _ := conformance.Execute(ctx, r.config) // newRunner has validated; what else there is to say the caller knows by ctx
	r.endpoint.Server = report.Server
	for _, one := range report.Results {
		for _, left := range one.Leftovers {
			r.endpoint.Leftovers = append(r.endpoint.Leftovers, one.Case.ID+": "+left.Error())
		}
	}
	for _, left := range report.Leftovers {
		r.endpoint.Leftovers = append(r.endpoint.Leftovers, left.Error())
	}
}
