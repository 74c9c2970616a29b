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

// Side is one of the two servers on which the suite is run.
type Side struct {
	// Name is the name of the side in reports.
	Name string
	// Config is the configuration of the suite. Suites wraps Client and CaseFinished; the original
	// values are still used. The cases run one after the other.
	Config conformance.Config
}

// caseRun is the run of a case on one side.
type caseRun struct {
	result    conformance.Result
	exchanges []*exchange
	run, host string
}

// Suites runs the suite on two servers in step and compares the responses to each case. The left
// configuration selects the cases; the right one must select the same. onCase, if not nil, is
// called with each case after it is compared. The error reports an invalid configuration or a
// canceled context; the report then has the cases compared so far.
func Suites(ctx context.Context, left, right Side, onCase func(Case)) (*Report, error) {
	// The IDs must have the same length and sort order. They differ because both sides may be the
	// same server.
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
		return nil, errors.New("the two sides select different cases")
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
	return report, cmp.Or(context.Cause(ctx), l.incomplete, r.incomplete)
}

// runner runs the suite on one side.
type runner struct {
	config   conformance.Config
	recorder *recorder
	cases    chan caseRun
	endpoint Endpoint

	incomplete error // why the run ended early, or nil
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
	r.config.Client, r.config.Parallel = &client, 1
	r.config.CaseFinished = func(result conformance.Result) {
		if side.Config.CaseFinished != nil {
			side.Config.CaseFinished(result)
		}
		r.cases <- caseRun{result: result, exchanges: r.recorder.remove(result.Case.ID), run: r.config.RunID, host: base.Host}
	}
	return r, nil
}

// run runs the cases. After each it waits until the case is compared.
func (r *runner) run(ctx context.Context) {
	report, err := conformance.Execute(ctx, r.config)
	r.incomplete = err // newRunner has validated the configuration
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
