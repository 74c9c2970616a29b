package controllers

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
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

// aggregatedRole is a ClusterRole that may have an aggregationRule.
type aggregatedRole struct {
	rec *memstore.Record
	// selectors are those of the aggregationRule, if isDecoded is true.
	selectors []labels.Selector
	isDecoded bool
	// examine reports whether it, or a ClusterRole that it selects, was written since its rules were
	// last compared.
	examine bool
}

// aggregates reports whether a role has the rules of the ClusterRole rec. rec may be nil.
func (m *Controllers) aggregates(role *aggregatedRole, rec *memstore.Record) bool {
	if rec == nil || rec.Key == role.rec.Key {
		return false
	}
	if !role.isDecoded {
		role.isDecoded, role.selectors = true, m.readSelectors(role.rec)
	}
	return slices.ContainsFunc(role.selectors, func(s labels.Selector) bool {
		return s.Matches((*codec.RecordLabels)(rec))
	})
}

// readSelectors returns the selectors of the aggregationRule of a ClusterRole. One that is invalid,
// or a ClusterRole that cannot be decoded, is an error when the rules are compared.
func (m *Controllers) readSelectors(rec *memstore.Record) (selectors []labels.Selector) {
	role, err := m.decodeClusterRole(rec)
	if err != nil || role.AggregationRule == nil {
		return nil
	}
	for i := range role.AggregationRule.ClusterRoleSelectors {
		if s, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i]); err == nil {
			selectors = append(selectors, s)
		}
	}
	return selectors
}

// onClusterRoleChange records a write of a ClusterRole: the rules of those that aggregate it may
// change.
func (m *Controllers) onClusterRoleChange(prev, rec *memstore.Record) {
	isInitial := isInitialState(rec)
	if !isInitial {
		for _, role := range m.aggregated {
			role.examine = role.examine || m.aggregates(role, prev) || m.aggregates(role, rec)
		}
	}
	switch {
	case rec == nil:
		delete(m.aggregated, prev.Key)
	case !mayAggregate(rec):
		delete(m.aggregated, rec.Key)
	default:
		if m.aggregated == nil {
			m.aggregated = make(map[string]*aggregatedRole)
		}
		m.aggregated[rec.Key] = &aggregatedRole{rec: rec, examine: !isInitial}
	}
	m.hasAggregated.Store(len(m.aggregated) > 0)
}

// isInitialState reports whether a ClusterRole is as it was when the server started with the
// bootstrap policy. rec may be nil.
func isInitialState(rec *memstore.Record) bool {
	return rec != nil && rec.Revision <= memstore.DefaultStartRevision
}

// onClusterRolesRead is called when onClusterRoleChange has been called for all ClusterRoles. If
// there are those of the bootstrap policy in their initial state and no others, all have the right
// rules. Otherwise, all that aggregate are examined.
func (m *Controllers) onClusterRolesRead(initial, all int) {
	if len(m.aggregated) == 0 || initial == all && initial == len(bootstrappolicy.Shared().ClusterRoles) {
		return
	}
	for _, role := range m.aggregated {
		role.examine = true
	}
}

// mayAggregate reports whether a ClusterRole may have an aggregationRule, without decoding it.
func mayAggregate(rec *memstore.Record) bool {
	return bytes.Contains(rec.Data, []byte(`"aggregationRule"`))
}

// decodeClusterRole returns the ClusterRole in a record, which must not be modified.
func (m *Controllers) decodeClusterRole(rec *memstore.Record) (*rbacv1.ClusterRole, error) {
	if role, ok := m.clusterRoles.Get(rec); ok {
		return role, nil
	}
	p, _ := m.resources.find(rec.Key)
	obj, err := codec.DecodeStored(p.res, rec)
	if err != nil {
		return nil, err
	}
	m.clusterRoles.Put(rec, obj.(*rbacv1.ClusterRole))
	return obj.(*rbacv1.ClusterRole), nil
}

// nextAggregationWork returns the write of the rules of a ClusterRole that differ from those that
// it aggregates. ok is false if there is none.
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
	view := m.store.View()
	rec := view.Get(key)
	if rec == nil {
		return nil, nil, nil
	}
	role, err := m.decodeClusterRole(rec)
	if err != nil || role.AggregationRule == nil {
		return nil, nil, err
	}
	rules, err := rbac.AggregateRules(role, func(selector labels.Selector) (selected []*rbacv1.ClusterRole, err error) {
		for one := range view.Range(clusterRolePrefix, "") {
			if !selector.Matches((*codec.RecordLabels)(one)) {
				continue
			}
			decoded, err := m.decodeClusterRole(one)
			if err != nil {
				return nil, err
			}
			selected = append(selected, decoded)
		}
		return selected, nil
	})
	if err != nil || rbac.EqualRules(rules, role.Rules) {
		return nil, nil, err
	}
	return rec, rules, nil
}

// applyRules writes the rules of a ClusterRole by a server-side apply. Rules that others have
// written remain if there are none to write, as in a cluster.
func (m *Controllers) applyRules(ctx context.Context, rec *memstore.Record, rules []rbacv1.PolicyRule) error {
	p, _ := m.resources.find(rec.Key)
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
