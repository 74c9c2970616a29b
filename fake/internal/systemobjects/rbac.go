package systemobjects

import (
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/rbac"
	"example.com/fakeapi/fake/internal/rbac/bootstrappolicy"
)

// rbacVersion is the apiVersion of the objects of the bootstrap policy.
var rbacVersion = rbacv1.SchemeGroupVersion.String()

// encodePolicy returns the objects of the bootstrap policy of RBAC. They are encoded once a
// process.
var encodePolicy = sync.OnceValues(func() ([]encodedObject, error) {
	objects, err := bootstrapPolicy()
	if err != nil {
		return nil, err
	}
	return encode(objects)
})

// bootstrapPolicy returns the roles and bindings of the bootstrap policy, with managedFields. The
// aggregated ClusterRoles have their rules.
func bootstrapPolicy() (objects []runtime.Object, err error) {
	roles := bootstrappolicy.ClusterRoles()
	if err := aggregate(roles); err != nil {
		return nil, err
	}
	for i := range roles {
		setRoleManagedFields(&roles[i])
		objects = append(objects, &roles[i])
	}
	for _, b := range bootstrappolicy.ClusterRoleBindings() {
		setBindingManagedFields(&b, b.Subjects)
		objects = append(objects, &b)
	}
	for _, r := range bootstrappolicy.NamespaceRoles() {
		setManagedFields(&r, newEntry(rbacVersion, bootstrappolicy.FieldManager, metav1.ManagedFieldsOperationUpdate, ownedMetadata(&r)+`,"f:rules":{}`))
		objects = append(objects, &r)
	}
	for _, b := range bootstrappolicy.NamespaceRoleBindings() {
		setBindingManagedFields(&b, b.Subjects)
		objects = append(objects, &b)
	}
	return objects, nil
}

// aggregate sets the rules of the ClusterRoles among roles that aggregate others, which may
// aggregate others themselves.
func aggregate(roles []rbacv1.ClusterRole) error {
	list := func(selector labels.Selector) (selected []*rbacv1.ClusterRole, _ error) {
		for i := range roles {
			if selector.Matches(labels.Set(roles[i].Labels)) {
				selected = append(selected, &roles[i])
			}
		}
		return selected, nil
	}
	for isChanged := true; isChanged; {
		isChanged = false
		for i := range roles {
			if roles[i].AggregationRule == nil {
				continue
			}
			rules, err := rbac.AggregateRules(&roles[i], list)
			if err != nil {
				return err
			}
			isChanged = isChanged || len(rules) != len(roles[i].Rules)
			roles[i].Rules = rules
		}
	}
	return nil
}

// setRoleManagedFields sets the managedFields of a ClusterRole. The rules of one that aggregates
// others have been applied by the controller.
func setRoleManagedFields(r *rbacv1.ClusterRole) {
	metadata := ownedMetadata(r)
	if r.AggregationRule == nil {
		setManagedFields(r, newEntry(rbacVersion, bootstrappolicy.FieldManager, metav1.ManagedFieldsOperationUpdate, metadata+`,"f:rules":{}`))
		return
	}
	setManagedFields(r,
		newEntry(rbacVersion, bootstrappolicy.AggregationManager, metav1.ManagedFieldsOperationApply, `"f:rules":{}`),
		newEntry(rbacVersion, bootstrappolicy.FieldManager, metav1.ManagedFieldsOperationUpdate, `"f:aggregationRule":{".":{},"f:clusterRoleSelectors":{}},`+metadata))
}

// setBindingManagedFields sets the managedFields of a binding.
func setBindingManagedFields(o metav1.Object, subjects []rbacv1.Subject) {
	fields := ownedMetadata(o) + `,"f:roleRef":{}`
	if len(subjects) > 0 {
		fields += `,"f:subjects":{}`
	}
	setManagedFields(o, newEntry(rbacVersion, bootstrappolicy.FieldManager, metav1.ManagedFieldsOperationUpdate, fields))
}
