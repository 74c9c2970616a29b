package policy

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// kind is what differs between validating and mutating policies. P is the type of policies, B that
// of bindings and E that of compiled policies.
type kind[P, B runtime.Object, E any] struct {
	policies, bindings string // plurals of admissionregistration.k8s.io
	newPolicy          func(P) generic.PolicyAccessor
	newBinding         func(B) generic.BindingAccessor
	// compile returns a compiled policy. It has the errors of its expressions.
	compile func(P) E
	// hooks returns the hooks for a policy. common is one with all bindings.
	hooks func(common generic.PolicyHook[P, B, E]) []generic.PolicyHook[P, B, E]
}

// source has the policies that are in force, with their bindings, as the hooks that the library
// dispatches writes to. It is safe for concurrent use.
type source[P, B runtime.Object, E any] struct {
	kind[P, B, E]
	lister *admission.Lister
	// policyResource and bindingResource are the resources, policyPrefix and bindingPrefix the
	// prefixes of their keys.
	policyResource, bindingResource *resource.Resource
	policyPrefix, bindingPrefix     string

	mu    sync.Mutex // held while the state changes
	state atomic.Pointer[state[P, B, E]]
}

// state is the source for one state of the policies, the bindings and the served types. It is
// immutable.
type state[P, B runtime.Object, E any] struct {
	policies, bindings []*memstore.Record
	table              *resource.Table
	// hooks are in the order of the names of policies and of bindings.
	hooks []generic.PolicyHook[P, B, E]
	// compiled has the compiled policies that have bindings.
	compiled map[*memstore.Record]E
}

func newSource[P, B runtime.Object, E any](lister *admission.Lister, k kind[P, B, E]) *source[P, B, E] {
	gv, table := admissionregistrationv1.SchemeGroupVersion, lister.Table()
	s := &source[P, B, E]{
		kind: k, lister: lister,
		policyResource:  table.Lookup(gv.Group, gv.Version, k.policies),
		bindingResource: table.Lookup(gv.Group, gv.Version, k.bindings),
	}
	s.policyPrefix, s.bindingPrefix = codec.Key(s.policyResource, "", ""), codec.Key(s.bindingResource, "", "")
	s.state.Store(&state[P, B, E]{})
	return s
}

// current returns the hooks for the policies that are in force. It returns none without policies,
// and then does not allocate.
func (s *source[P, B, E]) current() ([]generic.PolicyHook[P, B, E], error) {
	view, table := s.lister.View(), s.lister.Table()
	if view.Count(s.policyPrefix) == 0 || view.Count(s.bindingPrefix) == 0 {
		return nil, nil
	}
	if now := s.state.Load(); s.isOf(now, view, table) {
		return now.hooks, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	view, table = s.lister.View(), s.lister.Table() // not older than what a faster request has seen
	now := s.state.Load()
	if !s.isOf(now, view, table) {
		var err error
		if now, err = s.newState(now, view, table); err != nil {
			return nil, err
		}
		s.state.Store(now)
	}
	return now.hooks, nil
}

// isOf reports whether st is the state for the policies and bindings in view, and for the types of
// table.
func (s *source[P, B, E]) isOf(st *state[P, B, E], view memstore.View, table *resource.Table) bool {
	return st.table == table && hasRecords(view, s.policyPrefix, st.policies) && hasRecords(view, s.bindingPrefix, st.bindings)
}

// hasRecords reports whether the records in view with a prefix are want.
func hasRecords(view memstore.View, prefix string, want []*memstore.Record) bool {
	if view.Count(prefix) != len(want) {
		return false
	}
	i := 0
	for rec := range view.Range(prefix, "") {
		if want[i] != rec {
			return false
		}
		i++
	}
	return true
}

// newState returns the state for a view. Policies that old has are not compiled again.
func (s *source[P, B, E]) newState(old *state[P, B, E], view memstore.View, table *resource.Table) (*state[P, B, E], error) {
	st := &state[P, B, E]{table: table, compiled: make(map[*memstore.Record]E)}
	bound := make(map[string][]B) // by the name of the policy
	for rec := range view.Range(s.bindingPrefix, "") {
		st.bindings = append(st.bindings, rec)
		obj, err := s.lister.Decode(s.bindingResource, rec)
		if err != nil {
			return nil, err
		}
		binding := obj.(B)
		name := s.newBinding(binding).GetPolicyName().Name
		bound[name] = append(bound[name], binding)
	}
	for rec := range view.Range(s.policyPrefix, "") {
		st.policies = append(st.policies, rec)
		obj, err := s.lister.Decode(s.policyResource, rec)
		if err != nil {
			return nil, err
		}
		policy := obj.(P)
		accessor := s.newPolicy(policy)
		if len(bound[accessor.GetName()]) == 0 {
			continue
		}
		evaluator, ok := old.compiled[rec]
		if !ok {
			evaluator = s.compile(policy)
		}
		st.compiled[rec] = evaluator
		hook := generic.PolicyHook[P, B, E]{Policy: policy, Bindings: bound[accessor.GetName()], Evaluator: evaluator}
		if paramKind := accessor.GetParamKind(); paramKind != nil {
			setParams(&hook, s.lister, table, paramKind)
		}
		st.hooks = append(st.hooks, s.hooks(hook)...)
	}
	return st, nil
}

// setParams sets how the hook of a policy with a paramKind finds its parameters.
func setParams[P, B runtime.Object, E any](hook *generic.PolicyHook[P, B, E], lister *admission.Lister, table *resource.Table, paramKind *admissionregistrationv1.ParamKind) {
	gvk := schema.FromAPIVersionAndKind(paramKind.APIVersion, paramKind.Kind)
	res := lookupParamKind(table, gvk)
	if res == nil {
		hook.ConfigurationError = fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gvk)
		return
	}
	hook.ParamInformer, hook.ParamScope = newParamInformer(lister, res), scopeOf(res)
}

// lookupParamKind returns the resource with a kind, nil if there is none. As on a real server the
// kind may be in lower case.
func lookupParamKind(table *resource.Table, kind schema.GroupVersionKind) *resource.Resource {
	if res := table.LookupKind(kind); res != nil {
		return res
	}
	for _, res := range table.All() {
		if res.GroupVersion() == kind.GroupVersion() && strings.ToLower(res.Kind) == kind.Kind {
			return res
		}
	}
	return nil
}
