package accesslog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/fakeapi/fake/access"
	"example.com/fakeapi/fake/internal/accesslog"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/internal/requestinfo"
)

// requestContext returns the context of a request of a user with a number in the timeline.
func requestContext(number uint64, groups ...string) context.Context {
	r := requestinfo.WithRequestInfo(httptest.NewRequest("GET", "/api", nil))
	requestinfo.SetNumber(r.Context(), number)
	return authn.WithUser(r.Context(), authenticationv1.UserInfo{Username: "ann", Groups: groups})
}

var getPods = accesslog.Action{User: "ann", UserAgent: "a/1", Verb: "get", Resource: "pods", Namespace: "ns"}

// Requests that differ in the name only are one access. Its numbers are those of the first request
// and of the first denial, and its reason is the latest.
func TestRecord(t *testing.T) {
	r := accesslog.New()
	require.Equal(t, access.Report{Accesses: []access.Access{}}, r.Report())
	r.Record(requestContext(2, "team"), getPods, "b", true, "by x")
	r.Record(requestContext(3, "other"), getPods, "a", false, "no")
	r.Record(requestContext(4), getPods, "a", false, "")
	r.Record(requestContext(5), getPods, "b", true, "by y")
	r.Record(requestContext(1), accesslog.Action{User: "ann", UserAgent: "a/1", Verb: "get", Path: "/version"}, "", true, "")
	want := access.Report{Accesses: []access.Access{
		{User: "ann", Groups: []string(nil), UserAgent: "a/1", Verb: "get", Path: "/version", Allowed: 1, First: 1},
		{
			User: "ann", Groups: []string{"team"}, UserAgent: "a/1", Verb: "get", Resource: "pods", Namespace: "ns", Names: []string{"a", "b"},
			Allowed: 2, Denied: 2, First: 2, FirstDenied: 3, Reason: "by y",
		},
	}}
	require.Empty(t, cmp.Diff(want, r.Report()))

	data, err := json.Marshal(r.Report())
	require.NoError(t, err)
	var read access.Report
	require.NoError(t, json.Unmarshal(data, &read))
	require.Empty(t, cmp.Diff(want, read))

	r.Reset()
	require.Empty(t, r.Report().Accesses)
}

// The order does not depend on that of the requests.
func TestOrder(t *testing.T) {
	var want []accesslog.Action
	for i := range 1 << 9 {
		text := func(bit int) string { return []string{"", "x"}[i>>(8-bit)&1] }
		a := accesslog.Action{
			User: text(0), UserAgent: text(1), APIGroup: text(2), Resource: text(3), Subresource: text(4), Namespace: text(5), Verb: text(6), Path: text(7),
		}
		if i&1 == 0 {
			want = append(want, a)
		}
	}
	r := accesslog.New()
	for i := range want {
		r.Record(t.Context(), want[(i*77)%len(want)], "", true, "")
	}
	var got []accesslog.Action
	for _, a := range r.Report().Accesses {
		got = append(got, accesslog.Action{
			User: a.User, UserAgent: a.UserAgent, Verb: a.Verb, APIGroup: a.APIGroup, Resource: a.Resource,
			Subresource: a.Subresource, Namespace: a.Namespace, Path: a.Path,
		})
	}
	require.Equal(t, want, got)
}

// The rules of roles and bindings are recorded once each.
func TestRecordGrant(t *testing.T) {
	r := accesslog.New()
	bind := accesslog.Action{User: "ann", Verb: "bind", APIGroup: rbacv1.GroupName, Resource: "clusterroles"}
	read := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}
	write := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"a"}}
	rules := []rbacv1.PolicyRule{read, read, write}
	r.RecordGrant(requestContext(1), bind, "view", rules, true)
	rules[2].Resources[0] = "changed"
	r.RecordGrant(requestContext(2), bind, "edit", []rbacv1.PolicyRule{read}, false)
	write.Resources = []string{"pods"}
	require.Equal(t, []access.Access{{
		User: "ann", Verb: "bind", APIGroup: rbacv1.GroupName, Resource: "clusterroles", Names: []string{"edit", "view"},
		Allowed: 1, Denied: 1, First: 1, FirstDenied: 2,
		Grants: []rbacv1.PolicyRule{read, write},
	}}, r.Report().Accesses)

	large := make([]rbacv1.PolicyRule, accesslog.MaxGrants-1)
	for i := range large {
		large[i] = rbacv1.PolicyRule{Verbs: []string{fmt.Sprint(i)}}
	}
	r.RecordGrant(requestContext(3), bind, "large", large, true)
	got := r.Report()
	require.EqualValues(t, 1, got.Dropped, "a request whose rules have no room is not in the report")
	require.Len(t, got.Accesses[0].Grants, 2)
	require.NotContains(t, got.Accesses[0].Names, "large")
	r.RecordGrant(requestContext(3), bind, "large", large[1:], true)
	require.Len(t, r.Report().Accesses[0].Grants, accesslog.MaxGrants)
}

// The memory is limited: the number of accesses, of names, and the size of texts.
func TestLimits(t *testing.T) {
	t.Run("accesses", func(t *testing.T) {
		r := accesslog.New()
		for i := range accesslog.MaxAccesses + 3 {
			a := getPods
			a.Namespace = fmt.Sprint(i)
			r.Record(t.Context(), a, "", true, "")
		}
		again := getPods
		again.Namespace = "0"
		r.Record(t.Context(), again, "", true, "")
		got := r.Report()
		require.Len(t, got.Accesses, accesslog.MaxAccesses)
		require.EqualValues(t, 3, got.Dropped)
		require.EqualValues(t, 2, got.Accesses[0].Allowed, "the accesses in the report are still counted")
	})
	t.Run("names", func(t *testing.T) {
		r := accesslog.New()
		for i := range access.MaxNames {
			r.Record(t.Context(), getPods, fmt.Sprint(i), true, "")
		}
		require.False(t, r.Report().Accesses[0].MoreNames)
		for i := range 2 * access.MaxNames {
			r.Record(t.Context(), getPods, fmt.Sprint(i), true, "")
		}
		got := r.Report().Accesses[0]
		require.True(t, got.MoreNames)
		require.Len(t, got.Names, access.MaxNames)
		require.EqualValues(t, 3*access.MaxNames, got.Allowed)
		require.Zero(t, r.Report().Dropped)
	})
	t.Run("texts", func(t *testing.T) {
		r := accesslog.New()
		long := strings.Repeat("é", 10_000)
		a := accesslog.Action{User: "x" + long, UserAgent: long + "\xff", Verb: "get\xff", Path: long}
		for range 2 {
			r.Record(requestContext(1, slicesOf(long, 1000)...), a, long, false, long)
		}
		got := r.Report()
		require.Len(t, got.Accesses, 1)
		one := got.Accesses[0]
		require.Len(t, one.User, accesslog.MaxTextBytes-1, "a character is not cut")
		require.Len(t, one.UserAgent, accesslog.MaxTextBytes)
		require.Len(t, one.Reason, accesslog.MaxTextBytes)
		require.Len(t, one.Groups, accesslog.MaxGroups)
		require.Equal(t, "get\uFFFD", one.Verb)
		require.True(t, utf8.ValidString(one.User+one.UserAgent+one.Path+one.Groups[0]))
		require.EqualValues(t, 2, one.Denied)
	})
	t.Run("bytes", func(t *testing.T) {
		r := accesslog.New()
		long := strings.Repeat("x", accesslog.MaxTextBytes)
		groups := slicesOf(long, accesslog.MaxGroups)
		for i := range 2 * accesslog.MaxBytes / accesslog.MaxTextBytes / accesslog.MaxGroups {
			a := getPods
			a.Namespace = fmt.Sprint(i)
			r.Record(requestContext(1, groups...), a, "", true, "")
		}
		got := r.Report()
		require.NotZero(t, got.Dropped)
		require.Less(t, len(got.Accesses)*accesslog.MaxTextBytes*accesslog.MaxGroups, accesslog.MaxBytes)
		require.Greater(t, len(got.Accesses)*accesslog.MaxTextBytes*accesslog.MaxGroups, accesslog.MaxBytes/2)
		r.Reset()
		r.Record(requestContext(1, groups...), getPods, "", true, "")
		require.Len(t, r.Report().Accesses, 1, "there is room again")
		require.Zero(t, r.Report().Dropped)
	})
}

func slicesOf(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}

// All requests are counted, from whatever goroutine, and reports can be made meanwhile.
func TestConcurrentRecords(t *testing.T) {
	r := accesslog.New()
	const goroutines, each = 8, 500
	var done sync.WaitGroup
	for g := range goroutines {
		done.Go(func() {
			for i := range each {
				a := getPods
				a.Namespace = fmt.Sprint(i % 7)
				r.Record(requestContext(uint64(g+1)), a, fmt.Sprint(i%5), i%2 == 0, "")
				if i%100 == 0 {
					r.Report()
					r.RecordGrant(requestContext(1), accesslog.Action{Verb: "bind"}, "", []rbacv1.PolicyRule{{Verbs: []string{fmt.Sprint(i)}}}, true)
				}
			}
		})
	}
	done.Wait()
	var allowed, denied uint64
	for _, a := range r.Report().Accesses {
		if a.Verb == "bind" {
			require.Len(t, a.Grants, each/100)
			continue
		}
		allowed, denied = allowed+a.Allowed, denied+a.Denied
		require.Len(t, a.Names, 5)
		require.NotZero(t, a.First)
		require.NotZero(t, a.FirstDenied)
	}
	require.EqualValues(t, goroutines*each/2, allowed)
	require.EqualValues(t, goroutines*each/2, denied)
}

// A request for an access that is recorded already takes no allocation.
func TestNoAllocations(t *testing.T) {
	r, ctx := accesslog.New(), requestContext(1, "team")
	long := getPods
	long.UserAgent = strings.Repeat("x", 2*accesslog.MaxTextBytes)
	for _, a := range []accesslog.Action{getPods, long} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			r.Record(ctx, a, "a", true, "by x")
			r.Record(ctx, a, "", true, "by x")
		}))
	}
}

// BenchmarkRecord measures a request for an access that is recorded already.
func BenchmarkRecord(b *testing.B) {
	r, ctx := accesslog.New(), requestContext(1, "team")
	agent := "manager/v0.0.0 (linux/amd64) kubernetes/$Format"
	for i := range 1000 {
		r.Record(ctx, accesslog.Action{User: "system:admin", UserAgent: agent, Verb: "get", Resource: "configmaps", Namespace: fmt.Sprint(i)}, "a", true, "")
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		agent := strings.Clone(agent) // as each request has its own
		for pb.Next() {
			r.Record(ctx, accesslog.Action{User: "system:admin", UserAgent: agent, Verb: "get", Resource: "configmaps", Namespace: "500"}, "a", true, "")
		}
	})
}
