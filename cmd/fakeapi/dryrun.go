package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
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

// dryRunParallelism is how many servers a dry run uses at the same time. Cases mostly wait.
const dryRunParallelism = 16

// created is what a case created.
type created struct {
	namespaces, namespaced int
	cluster                []string // RESOURCE.GROUP/NAME of cluster-scoped objects other than namespaces
}

// dryRun runs the cases against servers in this process, and prints what they create. It does not
// use the server of the configuration.
func dryRun(ctx context.Context, c *call, config conformance.Config, server string) error {
	selected := config.SelectedCases()
	workers := make([][]string, min(dryRunParallelism, len(selected)))
	for i, one := range selected {
		workers[i%len(workers)] = append(workers[i%len(workers)], regexp.QuoteMeta(one.ID))
	}
	all, errs := make([]map[string]created, len(workers)), make([]error, len(workers))
	var running sync.WaitGroup
	for i, ids := range workers {
		config := config
		config.Run = regexp.MustCompile("^(" + strings.Join(ids, "|") + ")$")
		running.Go(func() { all[i], errs[i] = dryRunOn(ctx, config) })
	}
	running.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: the dry run is not complete")
	}
	found := map[string]created{}
	for i, err := range errs {
		if err != nil {
			return err
		}
		maps.Copy(found, all[i])
	}
	return printDryRun(c.stdout, config, server, found)
}

// numbered matches the numbers in the names that cases create: of the groups of definitions, of the
// namespaces that configurations of webhooks are named after, and of markers.
var numbered = regexp.MustCompile(`(\.g|-RUN-|-marker-)[0-9]+(?:-[0-9]+)?\b`)

// numberless is what numbered matches, with N for the number.
var numberless = regexp.MustCompile(`(\.g|-RUN-|-marker-)N\b`)

// dryRunOn runs the cases against one server in this process, and returns what each created.
func dryRunOn(ctx context.Context, config conformance.Config) (map[string]created, error) {
	server, err := newDryRunServer(config.Features)
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }()
	notes := &createRecorder{next: server.Client().Transport, byCase: map[string]created{}}
	config.BaseURL, config.Client, config.Parallel = server.URL(), &http.Client{Transport: notes}, 1
	setHooks(server, &config)
	report, err := conformance.Execute(ctx, config)
	for id, one := range notes.byCase {
		for i, name := range one.cluster {
			one.cluster[i] = numbered.ReplaceAllString(strings.ReplaceAll(name, report.RunID, "RUN"), "${1}N")
		}
		notes.byCase[id] = one
	}
	return notes.byCase, err
}

// newDryRunServer starts a server with RBAC and the feature gates of the configuration.
func newDryRunServer(features map[string]bool) (*fakeapi.Server, error) {
	options := []fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithResourceVersionTimeout(50 * time.Millisecond), fakeapi.WithoutTimeline(), fakeapi.WithRBAC()}
	if features[conformance.CBORServingAndStorage] {
		options = append(options, fakeapi.WithFeature(fakeapi.CBOR, true))
	}
	if on, value := features[conformance.WatchList]; value && !on {
		options = append(options, fakeapi.WithFeature(fakeapi.WatchList, false))
	}
	return fakeapi.New(options...)
}

// setHooks sets the hooks of the configuration to those of a server in this process, where users
// without permissions are impersonated.
func setHooks(server *fakeapi.Server, config *conformance.Config) {
	config.UnprivilegedClient, config.TokenClient = nil, nil
	config.ListenWebhook = func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }
	if config.Compact != nil {
		config.Compact = func(context.Context) error { server.Compact(); return nil }
	}
	if config.ExpireWatches != nil {
		config.ExpireWatches = func(context.Context) error { server.ForgetHistory(); return nil }
	}
	if config.BeginStartup != nil {
		config.BeginStartup = func(context.Context) (func(), error) {
			return func() { _ = server.Restart(0) }, server.Restart(time.Hour) // a running server is not affected
		}
	}
}

// createRecorder records what the requests of cases create.
type createRecorder struct {
	next http.RoundTripper

	mu     sync.Mutex         // guards byCase
	byCase map[string]created // by case ID
}

// RoundTrip implements http.RoundTripper.
func (n *createRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
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
	n.record(conformance.RequestPurposeFrom(r.Context()).Case, r.URL.Path, body)
	return response, nil
}

// record records an object of a case that a 201 response reports. Reviews and most subresources
// store nothing.
func (n *createRecorder) record(id, path string, body []byte) {
	resource, namespaced, ok := createdResource(path)
	_, group, _ := strings.Cut(resource, ".")
	if !ok || group == "authorization.k8s.io" || group == "authentication.k8s.io" {
		return
	}
	var o metav1.PartialObjectMetadata
	_ = json.Unmarshal(body, &o) // in another encoding the name is unknown
	n.mu.Lock()
	defer n.mu.Unlock()
	one := n.byCase[id]
	switch {
	case namespaced || o.Namespace != "":
		one.namespaced++
	case resource == "namespaces":
		one.namespaces++
	default:
		one.cluster = append(one.cluster, resource+"/"+o.Name)
	}
	n.byCase[id] = one
}

// createdResource parses the path of a create: the resource with its group, and whether it is
// namespaced.
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

// printDryRun prints the results of a dry run.
func printDryRun(out io.Writer, config conformance.Config, server string, found map[string]created) error {
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
		"  %d namespaces %s-RUN-..., some at a time, with %d objects in them\n", server, len(selected), all.namespaces, config.NamespacePrefix, all.namespaced)
	times := map[string]int{}
	for _, name := range all.cluster {
		times[name]++
	}
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if numberless.MatchString(name) {
			fmt.Fprintf(&b, "  %s, %d of them, some at a time\n", name, times[name])
		} else {
			fmt.Fprintf(&b, "  %s\n", name)
		}
	}
	b.WriteString("It was found out on servers of fakeapi's own. Another server may skip cases for what it lacks, and answer with fewer objects created or more.\n")
	_, err := io.WriteString(out, b.String())
	return err
}
