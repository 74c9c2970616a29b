package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// rehearsals is how many servers a dry run uses side by side: most of the time of a run is waiting.
const rehearsals = 16

// created is what a case created.
type created struct {
	namespaces, namespaced int
	cluster                []string // RESOURCE.GROUP/NAME of what is in no namespace, but for namespaces
}

// rehearse finds out what a run would create by running it against servers of our own. The one of the configuration is left alone.
func rehearse(ctx context.Context, c *call, config conformance.Config, server string) error {
	selected := config.SelectedCases()
	hands := make([][]string, min(rehearsals, len(selected)))
	for i, one := range selected {
		hands[i%len(hands)] = append(hands[i%len(hands)], regexp.QuoteMeta(one.ID))
	}
	all, errs := make([]map[string]created, len(hands)), make([]error, len(hands))
	var running sync.WaitGroup
	for i, ids := range hands {
		config := config
		config.Run = regexp.MustCompile("^(" + strings.Join(ids, "|") + ")$")
		running.Go(func() { all[i], errs[i] = rehearseOn(ctx, config) })
	}
	running.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: the dry run did not end")
	}
	found := map[string]created{}
	for i, err := range errs {
		if err != nil {
			return err
		}
		maps.Copy(found, all[i])
	}
	return tellRehearsal(c.stdout, config, server, found)
}

// numbered are the groups of definitions that cases make for themselves, each with a number of its own.
var numbered = regexp.MustCompile(`\.g[0-9]+\.RUN\.`)

// rehearseOn runs the cases against a server of its own, and gives what each created.
func rehearseOn(ctx context.Context, config conformance.Config) (map[string]created, error) {
	server, err := standIn(config.Features)
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }()
	notes := &notes{next: server.Client().Transport, of: map[string]created{}}
	config.BaseURL, config.Client, config.CaseStarted = server.URL(), &http.Client{Transport: notes}, notes.begin
	hooksOf(server, &config)
	report, err := conformance.Execute(ctx, config)
	for id, one := range notes.of {
		for i, name := range one.cluster {
			one.cluster[i] = numbered.ReplaceAllString(strings.ReplaceAll(name, report.RunID, "RUN"), ".gN.RUN.")
		}
		notes.of[id] = one
	}
	return notes.of, err
}

// standIn is a server of our own with the feature gates of the configuration.
func standIn(features map[string]bool) (*fakeapi.Server, error) {
	options := []fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithResourceVersionTimeout(50 * time.Millisecond), fakeapi.WithoutTimeline()}
	if features[conformance.CBORServingAndStorage] {
		options = append(options, fakeapi.WithCBOR())
	}
	if on, said := features[conformance.WatchList]; said && !on {
		options = append(options, fakeapi.WithoutFeatures(fakeapi.WatchList))
	}
	return fakeapi.New(options...)
}

// hooksOf has the hooks of the configuration done to a server of our own instead. It is without users, so nobody is impersonated there.
func hooksOf(server *fakeapi.Server, config *conformance.Config) {
	config.UnprivilegedClient = nil
	if config.Compact != nil {
		config.Compact = func(context.Context) error { server.Compact(); return nil }
	}
	if config.ExpireWatches != nil {
		config.ExpireWatches = func(context.Context) error { server.ForgetHistory(); return nil }
	}
	if config.BeginStartup != nil {
		config.BeginStartup = func(context.Context) (func(), error) {
			return func() { _ = server.Restart(0) }, server.Restart(time.Hour) // a door that is open stays so
		}
	}
}

// notes writes down what the requests of cases create.
type notes struct {
	next http.RoundTripper

	mu  sync.Mutex // guards what is below
	now string
	of  map[string]created // by the ID of a case
}

func (n *notes) begin(one conformance.Case) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now = one.ID
}

// RoundTrip implements http.RoundTripper.
func (n *notes) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := n.next.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusCreated || r.URL.Query().Has("dryRun") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	n.note(r.URL.Path, body)
	return response, nil
}

// note takes down what an answer 201 says to be created. Reviews, and what subresources answer, are stored nowhere.
func (n *notes) note(path string, body []byte) {
	resource, namespaced, ok := createdResource(path)
	if !ok || strings.HasSuffix(resource, ".authorization.k8s.io") || strings.HasSuffix(resource, ".authentication.k8s.io") {
		return
	}
	var o metav1.PartialObjectMetadata
	_ = json.Unmarshal(body, &o) // an answer in another encoding leaves the name open
	n.mu.Lock()
	defer n.mu.Unlock()
	one := n.of[n.now]
	switch {
	case namespaced || o.Namespace != "":
		one.namespaced++
	case resource == "namespaces":
		one.namespaces++
	default:
		one.cluster = append(one.cluster, resource+"/"+o.Name)
	}
	n.of[n.now] = one
}

// createdResource reads the path of a write: the resource with its group, and whether it is in a namespace.
func createdResource(path string) (resource string, namespaced, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group := ""
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = "."+parts[1], parts[3:]
	default:
		return "", false, false
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespaced, parts = true, parts[2:]
	}
	return parts[0] + group, namespaced, len(parts) <= 2
}

// tellRehearsal prints what a dry run found.
func tellRehearsal(out io.Writer, config conformance.Config, server string, found map[string]created) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "CASE\tLEVEL\tNAMESPACES\tOBJECTS IN THEM\tCLUSTER-SCOPED\tTITLE") // Flush has the error
	var all created
	selected := config.SelectedCases()
	for _, one := range selected {
		made := found[one.ID]
		title := one.Title
		if reason := config.SkipReason(one); reason != "" {
			title = "skipped: " + reason
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", one.ID, one.Level, made.namespaces, made.namespaced, len(made.cluster), title)
		all.namespaces += made.namespaces
		all.namespaced += made.namespaced
		all.cluster = append(all.cluster, made.cluster...)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nNothing was created on %s. A run of these %d cases creates there, and removes again, with five random characters for RUN:\n"+
		"  %d namespaces %s-RUN-..., one after the other, with %d objects in them\n", server, len(selected), all.namespaces, config.NamespacePrefix, all.namespaced)
	times := map[string]int{}
	for _, name := range all.cluster {
		times[name]++
	}
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if numbered.MatchString(strings.ReplaceAll(name, ".gN.", ".g0.")) {
			fmt.Fprintf(&b, "  %s, %d of them, one after the other\n", name, times[name])
		} else {
			fmt.Fprintf(&b, "  %s\n", name)
		}
	}
	b.WriteString("It was found out on servers of fakeapi's own. Another server may skip cases for what it lacks, and answer with fewer objects created or more.\n")
	_, err := io.WriteString(out, b.String())
	return err
}
