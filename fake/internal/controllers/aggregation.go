package controllers

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/rbac"
	"example.com/fakeapi/fake/internal/rbac/bootstrappolicy"
	"example.com/fakeapi/memstore"
)

// clusterRolePrefix begins the keys of ClusterRoles.
const clusterRolePrefix = "clusterroles.rbac.authorization.k8s.io/"

// isClusterRole reports whether a key is that of a ClusterRole.
func isClusterRole(key string) bool { return strings.HasPrefix(key, clusterRolePrefix) }

// aggregatedRole is a ClusterRole with an aggregationRule.
type aggregatedRole struct {
	selectors []labels.Selector
	// examine reports whether it, or a ClusterRole that it selects, was written since its rules were
	// last compared.
	examine bool
}

// selects reports whether the rules of the ClusterRole rec are aggregated. rec may be nil.
func (r *aggregatedRole) selects(rec *memstore.Record) bool {
	return rec != nil && slices.ContainsFunc(r.selectors, func(s labels.Selector) bool {
		return s.Matches((*codec.RecordLabels)(rec))
	})
}

// onClusterRoleChange records a write of a ClusterRole: the rules of those that select it may change.
func (m *Controllers) onClusterRoleChange(p location, prev, rec *memstore.Record) {
	key := clusterRolePrefix + p.name
	for other, role := range m.aggregated {
		if other != key && (role.selects(prev) || role.selects(rec)) {
			role.examine = true
		}
	}
	role := m.readAggregatedRole(p, rec)
	switch {
	case role != nil && m.aggregated == nil:
		m.aggregated = map[string]*aggregatedRole{key: role}
	case role != nil:
		m.aggregated[key] = role
	default:
		delete(m.aggregated, key)
	}
	m.hasAggregated.Store(len(m.aggregated) > 0)
}

// readAggregatedRole returns the ClusterRole in rec if it has an aggregationRule, and nil otherwise.
func (m *Controllers) readAggregatedRole(p location, rec *memstore.Record) *aggregatedRole {
	if rec == nil || !mayAggregate(rec) {
		return nil
	}
	obj, err := codec.DecodeStored(p.res, rec)
	if err != nil {
		return nil // its rules are left as they are
	}
	clusterRole := obj.(*rbacv1.ClusterRole)
	if clusterRole.AggregationRule == nil {
		return nil
	}
	role := &aggregatedRole{examine: true}
	for i := range clusterRole.AggregationRule.ClusterRoleSelectors {
		if s, err := metav1.LabelSelectorAsSelector(&clusterRole.AggregationRule.ClusterRoleSelectors[i]); err == nil {
			role.selectors = append(role.selectors, s)
		}
	}
	return role
}

// mayAggregate reports whether a ClusterRole may have an aggregationRule, without decoding it.
func mayAggregate(rec *memstore.Record) bool {
	return bytes.Contains(rec.Data, []byte(`"aggregationRule"`))
}

// nextAggregationWork returns the write of the rules of a ClusterRole that differ from those that it
// aggregates. ok is false if there is none.
func (m *Controllers) nextAggregationWork() (w work, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(m.aggregated)) {
		role := m.aggregated[key]
		if !role.examine {
			continue
		}
		role.examine = false
		w = work{what: "rules of " + key, again: func() { m.examineAggregatedRole(key) }}
		rec, rules, err := m.aggregatedRules(key)
		switch {
		case err != nil:
			w.do = func(context.Context) error { return err }
			return w, true
		case rec != nil:
			w.do = func(ctx context.Context) error { return m.applyRules(ctx, rec, rules) }
			return w, true
		}
		delete(m.retries, w.what)
	}
	return work{}, false
}

// examineAggregatedRole makes nextAggregationWork compare the rules of a ClusterRole again.
func (m *Controllers) examineAggregatedRole(key string) {
	if role := m.aggregated[key]; role != nil {
		role.examine = true
	}
}

// aggregatedRules returns a ClusterRole and the rules that it aggregates, or nil if it has them.
func (m *Controllers) aggregatedRules(key string) (*memstore.Record, []rbacv1.PolicyRule, error) {
	p, _ := m.kinds.find(key)
	view := m.store.View()
	decode := func(rec *memstore.Record) (*rbacv1.ClusterRole, error) {
		obj, err := codec.DecodeStored(p.res, rec)
		if err != nil {
			return nil, err
		}
		return obj.(*rbacv1.ClusterRole), nil
	}
	rec := view.Get(key)
	if rec == nil {
		return nil, nil, nil
	}
	role, err := decode(rec)
	if err != nil || role.AggregationRule == nil {
		return nil, nil, err
	}
	rules, err := rbac.AggregateRules(role, func(selector labels.Selector) (selected []*rbacv1.ClusterRole, err error) {
		for one := range view.Range(clusterRolePrefix, "") {
			if !selector.Matches((*codec.RecordLabels)(one)) {
				continue
			}
			decoded, err := decode(one)
			if err != nil {
				return nil, err
			}
			selected = append(selected, decoded)
		}
		return selected, nil
	})
	if err != nil || apiequality.Semantic.DeepEqual(rules, role.Rules) {
		return nil, nil, err
	}
	return rec, rules, nil
}

// applyRules writes the rules of a ClusterRole by a server-side apply. Rules that others have written
// remain if there are none to write, as in a cluster.
func (m *Controllers) applyRules(ctx context.Context, rec *memstore.Record, rules []rbacv1.PolicyRule) error {
	p, _ := m.kinds.find(rec.Key)
	members := map[string]any{}
	if len(rules) > 0 {
		list := make([]any, len(rules))
		for i := range rules {
			rule, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&rules[i])
			if err != nil {
				return err
			}
			list[i] = rule
		}
		members["rules"] = list
	}
	return m.writer.ApplyKey(ctx, aggregationController, p.res, rec.Key, rec.UID, bootstrappolicy.AggregationManager, members)
}
