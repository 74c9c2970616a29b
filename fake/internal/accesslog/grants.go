package accesslog

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/internal/requestinfo"
)

// RecordGrant records a request that creates or changes a role or a binding. The verb of the action
// is escalate or bind, and rules are those that the role or the binding grants. ctx is that of the
// request.
func (r *Recorder) RecordGrant(ctx context.Context, a Action, name string, rules []rbacv1.PolicyRule, allowed bool) {
	a.trim()
	name = cut(name)
	groups, number := authn.UserFrom(ctx).Groups, requestinfo.Number(ctx)
	encoded := make([]string, len(rules))
	for i := range rules {
		encoded[i] = encode(&rules[i])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(a, groups, number)
	if e == nil {
		return
	}
	var added []int
	size := 0
	for i, text := range encoded {
		if _, ok := e.granted[text]; !ok {
			added, size = append(added, i), size+2*len(text)
		}
	}
	if len(e.grants)+len(added) > MaxGrants || r.size+size > MaxBytes {
		r.dropped++
		return
	}
	r.size += size
	r.addName(e, name)
	if !allowed && e.denied.Load() == 0 {
		e.firstDenied = number
	}
	e.count(allowed, "")
	if e.granted == nil {
		e.granted = map[string]struct{}{}
	}
	for _, i := range added {
		if _, ok := e.granted[encoded[i]]; !ok {
			e.granted[encoded[i]] = struct{}{}
			e.grants = append(e.grants, *rules[i].DeepCopy())
		}
	}
}

// encode returns a rule as text, to find it again.
func encode(rule *rbacv1.PolicyRule) string {
	return fmt.Sprintf("%q %q %q %q %q", rule.Verbs, rule.APIGroups, rule.Resources, rule.ResourceNames, rule.NonResourceURLs)
}
