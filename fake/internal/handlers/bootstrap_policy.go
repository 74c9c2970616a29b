package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-helpers/auth/rbac/reconciliation"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/fixtures"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/rbac/bootstrappolicy"
	"example.com/fakeapi/fake/internal/resource"
)

// ReconcileBootstrapPolicy does what kube-apiserver does with the bootstrap policy of RBAC when it
// starts: it creates the roles and bindings that do not exist, and adds the rules, subjects, labels
// and annotations that the others lack. What they have besides stays. An object with the annotation
// rbac.authorization.kubernetes.io/autoupdate: "false" is left as it is, and a binding to another
// role is replaced. It writes as the server itself does, without admission, and only what differs.
// Without authz.ModeRBAC it does nothing.
//
// isNew is true for a server whose store had no objects before it started. The policy was stored
// before its fixtures then, and counts as absent where they would make a difference.
//
// An object that cannot be reconciled does not stop the others and is in the error.
func (a *API) ReconcileBootstrapPolicy(isNew bool) error {
	if a.rbac == nil {
		return nil
	}
	p := policyReconciler{api: a, isNew: isNew}
	policy := bootstrappolicy.Shared()
	errs := []error{p.primeAggregatedRoles(), p.primeSplitBindings()}
	for i := range policy.ClusterRoles {
		role := &policy.ClusterRoles[i]
		errs = append(errs, p.reconcile("clusterroles", role, func(c policyClient) error {
			return c.reconcileRole(reconciliation.ClusterRoleRuleOwner{ClusterRole: role.DeepCopy()})
		}))
	}
	for i := range policy.ClusterRoleBindings {
		binding := &policy.ClusterRoleBindings[i]
		errs = append(errs, p.reconcile("clusterrolebindings", binding, func(c policyClient) error {
			return c.reconcileBinding(reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: binding.DeepCopy()})
		}))
	}
	for i := range policy.Roles {
		role := &policy.Roles[i]
		errs = append(errs, p.reconcile("roles", role, func(c policyClient) error {
			return c.reconcileRole(reconciliation.RoleRuleOwner{Role: role.DeepCopy()})
		}))
	}
	for i := range policy.RoleBindings {
		binding := &policy.RoleBindings[i]
		errs = append(errs, p.reconcile("rolebindings", binding, func(c policyClient) error {
			return c.reconcileBinding(reconciliation.RoleBindingAdapter{RoleBinding: binding.DeepCopy()})
		}))
	}
	return errors.Join(errs...)
}

// policyReconciler reconciles the bootstrap policy of RBAC with the objects of a store.
type policyReconciler struct {
	api   *API
	isNew bool
}

// client returns the client for a resource of rbac.authorization.k8s.io.
func (p policyReconciler) client(plural string) policyClient {
	return policyClient{api: p.api, res: p.api.types.Table().Lookup(rbacv1.GroupName, rbacv1.SchemeGroupVersion.Version, plural)}
}

// isUnchanged reports whether the object with a name is as it was stored when a server started,
// which is as the policy has it.
func (p policyReconciler) isUnchanged(c policyClient, namespace, name string) bool {
	rec := p.api.store.View().Get(codec.Key(c.res, namespace, name))
	return rec != nil && fixtures.IsSystemObject(rec)
}

// reconcile calls do, again after a conflict, unless the stored object is unchanged.
func (p policyReconciler) reconcile(plural string, expected metav1.Object, do func(policyClient) error) error {
	c := p.client(plural)
	if p.isUnchanged(c, expected.GetNamespace(), expected.GetName()) {
		return nil
	}
	backoff := wait.Backoff{Steps: 20, Duration: time.Millisecond, Factor: 1}
	if err := retry.RetryOnConflict(backoff, func() error { return do(c) }); err != nil {
		return fmt.Errorf("fakeapi: reconcile %s %s: %w", c.res.Kind, expected.GetName(), err)
	}
	return nil
}

// primeAggregatedRoles copies ClusterRoles of the policy that do not aggregate to the ones that
// they are to aggregate, if those do not exist, so that their rules remain.
func (p policyReconciler) primeAggregatedRoles() error {
	c := p.client("clusterroles")
	newNames := bootstrappolicy.ClusterRolesToAggregate()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(newNames)) {
		if p.isUnchanged(c, "", name) {
			continue
		}
		obj, err := c.get("", name)
		if err != nil || obj.(*rbacv1.ClusterRole).AggregationRule != nil {
			errs = append(errs, ignoreNotFound(err))
			continue
		}
		role := obj.(*rbacv1.ClusterRole)
		role.Name = newNames[name]
		errs = append(errs, p.createAbsent(c, role))
	}
	return errors.Join(errs...)
}

// primeSplitBindings creates bindings with the subjects of those that they had been one with, if
// they do not exist.
func (p policyReconciler) primeSplitBindings() error {
	c := p.client("clusterrolebindings")
	split := bootstrappolicy.ClusterRoleBindingsToSplit()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(split)) {
		if p.isUnchanged(c, "", name) {
			continue
		}
		obj, err := c.get("", name)
		if err != nil {
			errs = append(errs, ignoreNotFound(err))
			continue
		}
		source, binding := obj.(*rbacv1.ClusterRoleBinding), split[name]
		binding.Subjects, binding.Labels, binding.Annotations = source.Subjects, source.Labels, source.Annotations
		errs = append(errs, p.createAbsent(c, &binding))
	}
	return errors.Join(errs...)
}

// createAbsent creates an object unless there is one with its name. One that was stored before the
// fixtures of a new server is replaced.
func (p policyReconciler) createAbsent(c policyClient, obj runtime.Object) error {
	err := c.create(obj, p.isNew && p.isUnchanged(c, "", resource.Accessor(obj).GetName()))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// policyClient reads and writes the objects of a resource as the API server itself does.
type policyClient struct {
	api *API
	res *resource.Resource
}

func (c policyClient) get(namespace, name string) (runtime.Object, error) {
	return c.api.store.GetObject(c.res, namespace, name)
}

// create creates an object, or replaces the one with its name if replace is true.
func (c policyClient) create(obj runtime.Object, replace bool) error {
	m := resource.Accessor(obj)
	if err := c.ensureNamespace(m.GetNamespace()); err != nil {
		return err
	}
	return c.write(m, func(old runtime.Object) (runtime.Object, error) {
		if old != nil && !replace {
			return nil, apierrors.NewAlreadyExists(c.res.GroupResource(), m.GetName())
		}
		created := obj.DeepCopyObject()
		m := resource.Accessor(created)
		m.SetUID(c.api.newUID())
		m.SetCreationTimestamp(c.api.clock.Timestamp())
		m.SetDeletionTimestamp(nil)
		m.SetDeletionGracePeriodSeconds(nil)
		m.SetManagedFields(nil)
		return created, nil
	})
}

// update updates an object that has the resourceVersion of the stored one.
func (c policyClient) update(obj runtime.Object) error {
	m := resource.Accessor(obj)
	return c.write(m, func(old runtime.Object) (runtime.Object, error) {
		switch {
		case old == nil:
			return nil, apierrors.NewNotFound(c.res.GroupResource(), m.GetName())
		case resource.Accessor(old).GetResourceVersion() != m.GetResourceVersion():
			return nil, apierrors.NewConflict(c.res.GroupResource(), m.GetName(), errors.New("the object has been modified"))
		}
		return obj.DeepCopyObject(), nil
	})
}

// write writes the object that update returns, with its managedFields.
func (c policyClient) write(m metav1.Object, update func(old runtime.Object) (runtime.Object, error)) error {
	manager, err := c.api.types.FieldManager(c.res, "")
	if err != nil {
		return err
	}
	key := codec.Key(c.res, m.GetNamespace(), m.GetName())
	_, err = c.api.store.GuaranteedUpdate(context.Background(), c.res, key, false, func(old runtime.Object) (runtime.Object, error) {
		obj, err := update(old)
		if err != nil {
			return nil, err
		}
		live := old
		if old != nil && resource.Accessor(old).GetUID() != resource.Accessor(obj).GetUID() {
			live = nil // obj is a new object
		}
		obj = c.api.clock.UpdateManagedFields(manager, live, obj, bootstrappolicy.FieldManager)
		if live != nil {
			managedfields.RestoreTimestamps(live, obj)
		}
		return obj, nil
	})
	return err
}

// ensureNamespace creates a namespace that does not exist.
func (c policyClient) ensureNamespace(name string) error {
	if name == "" || c.api.store.View().Get("namespaces/"+name) != nil {
		return nil
	}
	return c.api.Load([]runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}})
}

func (c policyClient) reconcileRole(expected reconciliation.RuleOwner) error {
	options := reconciliation.ReconcileRoleOptions{Role: expected, Client: roleModifier{c}, Confirm: true}
	_, err := options.Run()
	return err
}

func (c policyClient) reconcileBinding(expected reconciliation.RoleBinding) error {
	options := reconciliation.ReconcileRoleBindingOptions{RoleBinding: expected, Client: bindingModifier{c}, Confirm: true}
	_, err := options.Run()
	return err
}

// roleModifier implements reconciliation.RuleOwnerModifier for Roles or ClusterRoles.
type roleModifier struct{ policyClient }

func (c roleModifier) Get(namespace, name string) (reconciliation.RuleOwner, error) {
	obj, err := c.get(namespace, name)
	switch role := obj.(type) {
	case *rbacv1.ClusterRole:
		return reconciliation.ClusterRoleRuleOwner{ClusterRole: role}, err
	case *rbacv1.Role:
		return reconciliation.RoleRuleOwner{Role: role}, err
	}
	return nil, err
}

func (c roleModifier) Create(role reconciliation.RuleOwner) (reconciliation.RuleOwner, error) {
	return role, c.create(role.GetObject(), false)
}

func (c roleModifier) Update(role reconciliation.RuleOwner) (reconciliation.RuleOwner, error) {
	return role, c.update(role.GetObject())
}

// bindingModifier implements reconciliation.RoleBindingModifier for RoleBindings or
// ClusterRoleBindings.
type bindingModifier struct{ policyClient }

func (c bindingModifier) Get(namespace, name string) (reconciliation.RoleBinding, error) {
	obj, err := c.get(namespace, name)
	switch binding := obj.(type) {
	case *rbacv1.ClusterRoleBinding:
		return reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: binding}, err
	case *rbacv1.RoleBinding:
		return reconciliation.RoleBindingAdapter{RoleBinding: binding}, err
	}
	return nil, err
}

func (c bindingModifier) Create(binding reconciliation.RoleBinding) (reconciliation.RoleBinding, error) {
	return binding, c.create(binding.GetObject(), false)
}

func (c bindingModifier) Update(binding reconciliation.RoleBinding) (reconciliation.RoleBinding, error) {
	return binding, c.update(binding.GetObject())
}

func (c bindingModifier) Delete(namespace, name string, uid types.UID) error {
	return c.api.deleteKey(c.res, codec.Key(c.res, namespace, name), &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}
