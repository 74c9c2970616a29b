package rbac_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/rbac"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// The values that programs use are few, so that they match often.
var (
	someNames      = []string{"a", "a-b", "b", "c"}
	someNamespaces = []string{"n", "n-1", "m"}
	someUsers      = []string{"ann", "ann", "bob", "", "system:serviceaccount:n:a", "system:serviceaccount:m:a", "system:serviceaccount:n-1:b"}
	someGroups     = []string{"team", "team", "ann", ""}
	someVerbs      = []string{"get", "get", "*", "list", "GET", ""}
	someAPIGroups  = []string{"", "", "apps", "*"}
	someResources  = []string{"pods", "pods", "pods/log", "*", "*/log", "pods/*", "*/*", "", "/log", "log"}
	someObjects    = []string{"x", "y", "", "*"}
	somePaths      = []string{"/api", "/api/", "/api/v1", "/*", "*", "/api*", "/api/*", "/api/**", "", "/"}
)

// program changes a store as its bytes say, and compares the decisions of an Authorizer with those
// of the model. One Authorizer has to follow all of forks, restores and views of the past.
type program struct {
	t          testing.TB
	bytes      []byte
	current    modelStore
	others     []modelStore
	view       memstore.View
	authorizer *rbac.Authorizer
}

// modelStore is a store and the policy at each of its revisions since the last restore.
type modelStore struct {
	store     *memstore.Store
	policies  map[memstore.Revision]modelPolicy
	snapshots []modelSnapshot
}

type modelSnapshot struct {
	snapshot memstore.Snapshot
	policy   modelPolicy
}

func runProgram(t testing.TB, bytes []byte) (decisions map[string]int) {
	store := memstore.New(memstore.Options{})
	p := &program{t: t, bytes: bytes, current: modelStore{store: store, policies: map[memstore.Revision]modelPolicy{store.Revision(): {}}}}
	p.authorizer = rbac.New(func() memstore.View { return p.view }, builtin.Table())
	decisions = map[string]int{}
	for len(p.bytes) > 0 {
		p.step()
		for range 3 {
			decisions[p.decide()]++
		}
	}
	return decisions
}

func (p *program) draw(n int) int {
	if len(p.bytes) == 0 {
		return 0
	}
	b := p.bytes[0]
	p.bytes = p.bytes[1:]
	return int(b) % n
}

func (p *program) oneOf(values []string) string { return values[p.draw(len(values))] }

func (p *program) some(values []string) (chosen []string) {
	for range []int{1, 1, 1, 2, 0, 3}[p.draw(6)] {
		chosen = append(chosen, p.oneOf(values))
	}
	return chosen
}

func (p *program) policy() modelPolicy { return p.current.policies[p.current.store.Revision()] }

func (p *program) step() {
	store := p.current.store
	switch p.draw(16) {
	case 0, 1, 2:
		p.put(&rbacv1.ClusterRole{ObjectMeta: p.meta(""), Rules: p.rules()})
	case 3, 4:
		p.put(&rbacv1.Role{ObjectMeta: p.meta(p.oneOf(someNamespaces)), Rules: p.rules()})
	case 5, 6:
		p.put(&rbacv1.ClusterRoleBinding{ObjectMeta: p.meta(""), Subjects: p.subjects(), RoleRef: p.roleRef()})
	case 7, 8:
		p.put(&rbacv1.RoleBinding{ObjectMeta: p.meta(p.oneOf(someNamespaces)), Subjects: p.subjects(), RoleRef: p.roleRef()})
	case 9:
		p.remove()
	case 10, 11:
		p.put(&rbacv1.ClusterRoleBinding{ObjectMeta: p.meta(""), Subjects: []rbacv1.Subject{{Kind: "User", Name: "ann"}, {Kind: "Group", Name: "team"}}, RoleRef: p.roleRef()})
	case 12:
		putData(p.t, store, "pods/n/x", store.Revision().String())
		p.current.policies[store.Revision()] = p.current.policies[store.Revision()-1]
	case 13:
		p.damage()
	case 14:
		p.snapshotOrRestore()
	case 15:
		p.fork()
	}
}

func (p *program) meta(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: p.oneOf(someNames), Namespace: namespace}
}

// rules returns the rules of a role, sometimes more than are compared one after the other.
func (p *program) rules() (rules []rbacv1.PolicyRule) {
	for i := range []int{1, 1, 2, 3, 0, 40}[p.draw(6)] {
		switch {
		case i >= 4:
			rules = append(rules, rbacv1.PolicyRule{Verbs: []string{"other"}, APIGroups: []string{"*"}, Resources: []string{"*"}})
		case p.draw(4) == 0:
			rules = append(rules, rbacv1.PolicyRule{Verbs: p.some(someVerbs), NonResourceURLs: p.some(somePaths)})
		default:
			rules = append(rules, rbacv1.PolicyRule{Verbs: p.some(someVerbs), APIGroups: p.some(someAPIGroups), Resources: p.some(someResources)})
			if p.draw(3) == 0 {
				rules[len(rules)-1].ResourceNames = p.some(someObjects)
			}
		}
	}
	return rules
}

func (p *program) subjects() (subjects []rbacv1.Subject) {
	for range []int{1, 1, 2, 3, 0}[p.draw(5)] {
		switch p.draw(7) {
		case 0, 1:
			subjects = append(subjects, rbacv1.Subject{Kind: "User", Name: p.oneOf(someUsers)})
		case 2, 3:
			subjects = append(subjects, rbacv1.Subject{Kind: "Group", Name: p.oneOf(someGroups)})
		case 4:
			subjects = append(subjects, rbacv1.Subject{Kind: "ServiceAccount", Name: p.oneOf(someNames)})
		case 5:
			subjects = append(subjects, rbacv1.Subject{Kind: "ServiceAccount", Name: p.oneOf(someNames), Namespace: p.oneOf(someNamespaces)})
		case 6:
			subjects = append(subjects, rbacv1.Subject{Kind: "Robot", Name: p.oneOf(someUsers)})
		}
	}
	return subjects
}

func (p *program) roleRef() rbacv1.RoleRef {
	return rbacv1.RoleRef{Kind: p.oneOf([]string{"ClusterRole", "ClusterRole", "ClusterRole", "ClusterRole", "Role", "Role", "Robot"}), Name: p.oneOf(someNames)}
}

// set stores a policy as that of the current revision.
func (p *program) set(key string, object modelObject, exists bool) {
	next := maps.Clone(p.current.policies[p.current.store.Revision()-1])
	if next == nil { // nothing was written
		return
	}
	if delete(next, key); exists {
		next[key] = object
	}
	p.current.policies[p.current.store.Revision()] = next
}

func (p *program) put(obj runtime.Object) {
	before := p.current.store.Revision()
	_, key := keyOf(p.t, obj)
	stored := obj.DeepCopyObject()
	put(p.t, p.current.store, obj)
	if p.current.store.Revision() != before {
		p.set(key, modelObject{obj: stored}, true)
	}
}

// key returns the key of a record, or "" if there is none.
func (p *program) key() string {
	var keys []string
	for r := range p.current.store.View().Range("", "") {
		if _, ok := p.policy()[r.Key]; ok {
			keys = append(keys, r.Key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return p.oneOf(keys)
}

func (p *program) remove() {
	if key := p.key(); key != "" {
		remove(p.t, p.current.store, key)
		p.set(key, modelObject{}, false)
	}
}

// damage makes a record one that does not decode.
func (p *program) damage() {
	key := p.key()
	if key == "" || p.draw(3) > 0 {
		return
	}
	before := p.current.store.Revision()
	putData(p.t, p.current.store, key, "{")
	if p.current.store.Revision() == before {
		return
	}
	plural, _, _ := strings.Cut(key, ".")
	_, err := codec.DecodeStored(builtin.Table().Lookup(rbacv1.GroupName, "v1", plural), p.current.store.View().Get(key))
	require.Error(p.t, err)
	p.set(key, modelObject{err: err.Error()}, true)
}

func (p *program) snapshotOrRestore() {
	if n := len(p.current.snapshots); n > 0 && p.draw(2) == 0 {
		s := p.current.snapshots[p.draw(n)]
		p.current.store.Restore(s.snapshot, memstore.Revision(p.draw(2)*10))
		p.current.policies = map[memstore.Revision]modelPolicy{p.current.store.Revision(): s.policy}
		return
	}
	p.current.snapshots = append(p.current.snapshots, modelSnapshot{p.current.store.Snapshot(), p.policy()})
}

// fork continues with a fork, or with another store.
func (p *program) fork() {
	if n := len(p.others); n > 0 && p.draw(2) == 0 {
		i := p.draw(n)
		p.current, p.others[i] = p.others[i], p.current
		return
	}
	other := p.current
	other.store, other.policies = p.current.store.Fork(), maps.Clone(p.current.policies)
	if p.draw(2) == 0 {
		p.current, other = other, p.current
	}
	if len(p.others) < 3 {
		p.others = append(p.others, other)
	}
}

// decide compares a decision at the current or an older revision.
func (p *program) decide() string {
	rev := p.current.store.Revision()
	if p.draw(4) == 0 {
		rev -= memstore.Revision(p.draw(8))
	}
	policy, ok := p.current.policies[rev]
	if !ok {
		rev = p.current.store.Revision()
		policy = p.policy()
	}
	var err error
	p.view, err = p.current.store.ViewAt(rev)
	require.NoError(p.t, err)

	u := &user.DefaultInfo{Name: p.oneOf(someUsers), Groups: p.some(someGroups)}
	a := p.action(policy, u)
	want, wantReason := policy.authorize(a)
	got, reason, err := p.authorizer.Authorize(p.t.Context(), a)
	require.NoError(p.t, err)
	require.Equal(p.t, fmt.Sprint(want, wantReason), fmt.Sprint(got, reason), "%+v of %+v at %d", a, u, rev)

	var wantRules []rbacv1.PolicyRule
	for _, b := range policy.bindings(u, a.Namespace) {
		wantRules = append(wantRules, b.rules...)
	}
	rules, _ := p.authorizer.Rules(u, a.Namespace)
	if diff := cmp.Diff(wantRules, rules); diff != "" {
		p.t.Fatalf("rules of %+v in %q at %d (-want +got):\n%s", u, a.Namespace, rev, diff)
	}
	switch {
	case want == authorizer.DecisionAllow:
		return "allowed"
	case reason != "":
		return "error"
	}
	return "denied"
}

// action returns an action of a user, half of the time one that is in a rule of the user.
func (p *program) action(policy modelPolicy, u user.Info) *authorizer.AttributesRecord {
	a := &authorizer.AttributesRecord{
		User: u, ResourceRequest: p.draw(5) > 0, Verb: p.oneOf(someVerbs), Path: p.oneOf(somePaths),
		APIGroup: p.oneOf(someAPIGroups), Resource: p.oneOf(someResources), Subresource: p.oneOf([]string{"", "", "log", "*"}),
		Name: p.oneOf(someObjects), Namespace: p.oneOf(append([]string{"", "absent"}, someNamespaces...)),
	}
	bindings := policy.bindings(u, a.Namespace)
	if len(bindings) == 0 || p.draw(2) == 0 {
		return a
	}
	b := bindings[p.draw(len(bindings))]
	if len(b.rules) == 0 {
		return a
	}
	r := b.rules[p.draw(len(b.rules))]
	for _, field := range []struct {
		to   *string
		from []string
	}{{&a.Verb, r.Verbs}, {&a.APIGroup, r.APIGroups}, {&a.Resource, r.Resources}, {&a.Name, r.ResourceNames}, {&a.Path, r.NonResourceURLs}} {
		if len(field.from) > 0 {
			*field.to = p.oneOf(field.from)
		}
	}
	a.ResourceRequest = len(r.NonResourceURLs) == 0
	a.Resource, a.Subresource, _ = strings.Cut(a.Resource, "/")
	return a
}

// TestModel runs random programs, which are the same in every run.
func TestModel(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			program := make([]byte, 6000)
			for i := range program {
				program[i] = byte(random.Uint32())
			}
			decisions := runProgram(t, program)
			require.Greater(t, decisions["allowed"], 5, "%v", decisions)
			require.Greater(t, decisions["denied"], 10, "%v", decisions)
			require.Greater(t, decisions["error"], 10, "%v", decisions)
		})
	}
}

// FuzzRBAC runs the programs of the fuzzer.
func FuzzRBAC(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{5, 0, 2, 0, 0, 2, 1, 0, 0, 14, 1, 9, 0, 14, 0, 0, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 4096 {
			t.Skip("long programs find nothing that shorter ones do not")
		}
		runProgram(t, program)
	})
}
