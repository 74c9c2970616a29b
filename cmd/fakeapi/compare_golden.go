package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/compare"
	"example.com/fakeapi/internal/cmd/golden"
)

// recordingsAtOnce is how many recordings are replayed at the same time, each on its own server.
// They mostly wait.
const recordingsAtOnce = 8

// compareRecordings replays the recordings of a folder on the right side.
func (f *compareFlags) compareRecordings(ctx context.Context, c *call, folder string) error {
	if f.level != conformance.May || f.patience != 0 {
		return c.usageError(errors.New("--level and --patience apply to the suite only"))
	}
	cases, err := f.selectRecordings(folder)
	switch {
	case err != nil:
		return err
	case len(cases) == 0:
		return c.usageError(errors.New("--run selects no case"))
	case f.list:
		return listRecordings(c.stdout, cases)
	case f.dryRun:
		return dryRunRecordings(c.stdout, cases)
	}
	if slices.ContainsFunc(cases, golden.Case.NeedsWebhook) {
		f.webhook = golden.StartWebhook(nil, nil)
		defer f.webhook.Close()
	}
	recordings := compare.Recordings{Name: f.left.name, Cases: cases, Server: f.right.name, Timeout: f.timeout}
	if f.right.name == selfName {
		recordings.AtOnce = recordingsAtOnce
		recordings.Open = func(one golden.Case) (golden.Player, func(), error) { return f.startForCase(folder, one) }
		return f.executeRecordings(ctx, c, recordings, true)
	}
	right, err := f.right.open(ctx, "right", f.controllers)
	if err != nil {
		return err
	}
	remove, err := installCRDs(ctx, folder, cases, f.player(right))
	recordings.AtOnce = 1
	recordings.Open = func(golden.Case) (golden.Player, func(), error) { return f.player(right), func() {}, nil }
	if err == nil {
		err = f.executeRecordings(ctx, c, recordings, right.compact != nil)
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if left := remove(after); left != nil {
		return errors.Join(undecided(err), fmt.Errorf("cleaning up: %w", left))
	}
	return err
}

// undecided wraps an error other than reported differences.
func undecided(err error) error {
	if errors.Is(err, errReported) {
		return nil
	}
	return err
}

// executeRecordings replays the recordings. Those that compact the history are skipped if compacts
// is false.
func (f *compareFlags) executeRecordings(ctx context.Context, c *call, recordings compare.Recordings, compacts bool) error {
	recordings.Skip = func(one golden.Case) string {
		switch {
		case f.skip != nil && f.skip.MatchString(one.Name):
			return "--skip " + f.skip.String()
		case one.Compacts() && !compacts:
			return "it needs a compaction, see --right-compact"
		}
		return ""
	}
	return f.execute(ctx, c, len(recordings.Cases), func(shown *progress) (*compare.Report, error) {
		recordings.Began = func(one golden.Case) { shown.startNamed(one.Group, one.Name) }
		recordings.Ended = shown.endComparison
		return recordings.Compare(ctx)
	})
}

// selectRecordings reads the cases of a folder that --run selects.
func (f *compareFlags) selectRecordings(folder string) ([]golden.Case, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return nil, fmt.Errorf("--left golden:%s: %w", folder, unwrapPathError(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("--left golden:%s: it is not a folder", folder)
	}
	cases, err := golden.Load(os.DirFS(folder))
	if err != nil {
		return nil, fmt.Errorf("--left golden:%s: %w", folder, err)
	}
	return slices.DeleteFunc(cases, func(one golden.Case) bool { return f.run != nil && !f.run.MatchString(one.Name) }), nil
}

// player returns a player of cases on one side, each in its own namespace.
func (f *compareFlags) player(on *openSide) golden.Player {
	return golden.Player{BaseURL: on.base, Client: on.client, Compact: on.compact, Namespace: f.namespace + "-" + rand.String(5), Webhook: f.webhook}
}

// startForCase starts a server with the definitions of a case.
func (f *compareFlags) startForCase(folder string, one golden.Case) (golden.Player, func(), error) {
	var definitions []fakeapi.Option
	for _, name := range one.CRDs {
		definitions = append(definitions, fakeapi.WithCRDs(fakeapi.CRDsFromPaths(filepath.Join(folder, filepath.Base(name)))))
	}
	on, err := startSide(f.controllers, definitions...)
	if err != nil {
		return golden.Player{}, nil, err
	}
	return f.player(on), on.close, nil
}

// installCRDs creates the definitions of the cases.
func installCRDs(ctx context.Context, folder string, cases []golden.Case, player golden.Player) (remove func(context.Context) error, err error) {
	remove = func(context.Context) error { return nil }
	var known []string
	for _, one := range cases {
		for _, name := range one.CRDs {
			if slices.Contains(known, name) {
				continue
			}
			known = append(known, name)
			content, err := os.ReadFile(filepath.Join(folder, filepath.Base(name)))
			if err != nil {
				return remove, fmt.Errorf("--left golden:%s: %s: %w", folder, name, unwrapPathError(err))
			}
			before := remove
			more, err := player.Install(ctx, content)
			remove = func(ctx context.Context) error { return errors.Join(before(ctx), more(ctx)) }
			if err != nil {
				return remove, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return remove, nil
}

// listRecordings prints a line for each case.
func listRecordings(out io.Writer, cases []golden.Case) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "CASE\tGROUP\tREQUESTS\tTITLE") // Flush has the error
	for _, one := range cases {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", one.Name, one.Group, len(one.Requests()), one.Desc)
	}
	return w.Flush()
}

// dryRunRecordings prints the requests that would be sent.
func dryRunRecordings(out io.Writer, cases []golden.Case) error {
	for _, one := range cases {
		if _, err := fmt.Fprintf(out, "%s, in its own namespace\n", one.Name); err != nil {
			return err
		}
		for _, name := range one.CRDs {
			_, _ = fmt.Fprintf(out, "  needs the definitions of %s, which are created if they are missing, and removed afterwards\n", name)
		}
		for _, request := range one.Requests() {
			_, _ = fmt.Fprintf(out, "  %s %s\n", cmp.Or(request.Method, "GET"), request.Path)
		}
	}
	_, err := fmt.Fprintln(out, "Nothing was sent.")
	return err
}
