package fakeapi

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"example.com/fakeapi/fake/access"
	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/internal/printable"
)

// RBACOption changes what RequireRBAC compares.
type RBACOption func(*rbacOptions)

type rbacOptions struct {
	check       access.CheckOptions
	nothingMore bool
}

// AndNothingMore makes RequireRBAC fail also for rules that the client never used, and for
// wildcards, "*", in place of which what the client used would do. For this, the test has to make
// the client use everything that it needs. The recorder of events, for example, patches an Event
// only if it repeats.
func AndNothingMore() RBACOption { return func(o *rbacOptions) { o.nothingMore = true } }

// ForSubject makes RequireRBAC compare with the roles of a subject:
// system:serviceaccount:NAMESPACE:NAME, NAMESPACE/NAME for a service account, or the name of a
// user, a service account or a group. The default is the only subject that the manifests bind roles
// to, or else the one that the client names, or else the only one that is a ServiceAccount of the
// manifests. Manifests without bindings need none: all their roles count.
func ForSubject(name string) RBACOption { return func(o *rbacOptions) { o.check.Subject = name } }

// InNamespace makes RequireRBAC put Roles, RoleBindings and ServiceAccounts that have no namespace
// into this one, as kustomize does. The default is that such a Role applies to all namespaces.
func InNamespace(name string) RBACOption { return func(o *rbacOptions) { o.check.Namespace = name } }

// RequireRBAC fails the test if the RBAC manifests of a project lack a rule that a client needed
// for its requests to the server so far. The failure has each missing rule as YAML, the file and
// the role that it fits into, and the requests that needed it, with their numbers in the timeline.
// The server does not have to authorize requests: run as the administrator, the client needs the
// same rules.
//
// manifests has the manifests, such as os.DirFS("../config/rbac"); see access.ReadManifests. client
// selects the requests by user agent, user or service account; see access.Report.Of. "" selects all
// requests, also those of the test. What every authenticated user may do, such as discovery, needs
// no rule in manifests. Requests that were denied need their rules too.
//
// The leader election of controller-runtime has a user agent of its own, which begins with the name
// of the program and ends with /leader-election. A user agent as client leaves its Leases out. The
// name of a service account includes them, if the manager runs with RESTConfigForServiceAccount.
//
// The test fails as well if the client made no request, if the report of accesses is not complete,
// and if the manifests cannot be read.
func RequireRBAC(t TB, s *Server, manifests fs.FS, client string, opts ...RBACOption) {
	t.Helper()
	var o rbacOptions
	for _, opt := range opts {
		opt(&o)
	}
	report := s.Access()
	if report.Dropped > 0 {
		t.Errorf("fakeapi: RequireRBAC: %d requests are not in the report of accesses, because it is full", report.Dropped)
	}
	if len(report.Of(client).Accesses) == 0 {
		t.Errorf("fakeapi: RequireRBAC: %s", s.describeClients(report, client))
		return
	}
	m, err := access.ReadManifests(manifests)
	if err != nil {
		t.Errorf("fakeapi: RequireRBAC: %v", err)
		return
	}
	o.check.Client, o.check.Locate = client, newRequestLocator(s).locate
	result, err := access.Check(report, m, o.check)
	if err != nil {
		t.Errorf("fakeapi: RequireRBAC: %v; use ForSubject", err)
		return
	}
	if !o.nothingMore {
		result.Unused = nil
	}
	if len(result.Missing) > 0 || len(result.Unused) > 0 {
		t.Errorf("fakeapi: RequireRBAC: %s\n\n%s", summarize(result, client), strings.TrimSuffix(result.String(), "\n"))
	}
}

// summarize returns the number of the differences.
func summarize(r *access.Result, client string) string {
	count := func(n int, what string) string {
		if n == 1 {
			return "one rule " + what
		}
		return fmt.Sprintf("%d rules %s", n, what)
	}
	if client == "" {
		client = "a client"
	}
	client = printable.Line(client)
	var parts []string
	if n := len(r.Missing); n > 0 {
		parts = append(parts, "the manifests lack "+count(n, "that "+client+" needs"))
	}
	if n := len(r.Unused); n > 0 {
		parts = append(parts, "the manifests have "+count(n, "that "+client+" does not use"))
	}
	return strings.Join(parts, ", and ")
}

// maxClients is the number of clients that a message has.
const maxClients = 10

// describeClients returns that a client made no request, and which ones did.
func (s *Server) describeClients(r access.Report, client string) string {
	if s.accesses == nil {
		return "there is no report of accesses with WithoutTimeline"
	}
	if len(r.Accesses) == 0 {
		return "the server received no requests"
	}
	var clients []string
	for i := range r.Accesses {
		a := &r.Accesses[i]
		clients = append(clients, fmt.Sprintf("%q as %s", a.UserAgent, printable.Line(a.User)))
	}
	slices.Sort(clients)
	clients = slices.Compact(clients)
	more := ""
	if n := len(clients) - maxClients; n > 0 {
		clients, more = clients[:maxClients], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%q made no requests; the clients that did are %s%s", client, strings.Join(clients, ", "), more)
}

// requestLocator finds requests in the timeline of a server.
type requestLocator struct {
	server *Server
	all    []timeline.Exchange // nil until they are needed
}

func newRequestLocator(s *Server) *requestLocator { return &requestLocator{server: s} }

// locate implements access.CheckOptions.Locate.
func (l *requestLocator) locate(r access.Request) (uint64, string) {
	if l.all == nil {
		l.all = l.server.recorder.Timeline().Exchanges
	}
	i := slices.IndexFunc(l.all, func(x timeline.Exchange) bool {
		if r.Seq > 0 {
			return x.Seq == r.Seq
		}
		return x.Info.Verb == r.Verb && x.Info.Group == r.APIGroup && x.Info.Resource == r.Resource && x.Info.Subresource == r.Subresource &&
			x.Info.Namespace == r.Namespace && x.Info.Name == r.Name && x.UserAgent == r.UserAgent && l.server.userName(x.User, x.StatusCode) == r.User
	})
	if i < 0 {
		return 0, ""
	}
	return l.all[i].Seq, l.all[i].Method + " " + l.all[i].Path
}
