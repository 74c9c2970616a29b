package policy

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"

	"example.com/fakeapi/fake/internal/resource"
)

// CheckTypes returns warnings for the expressions of a policy that do not fit the types which the
// policy selects. table has the served types and schemas their schemas.
func CheckTypes(policy *validating.Policy, table *resource.Table, schemas resolver.SchemaResolver) []admissionregistrationv1.ExpressionWarning {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, res := range table.All() {
		gv := res.GroupVersion()
		mapper.AddSpecific(res.GroupVersionKind(), res.GroupVersionResource(), gv.WithResource(res.Singular), scopeOf(res))
	}
	checker := validating.TypeChecker{SchemaResolver: schemas, RestMapper: mapper}
	return checker.Check(policy)
}
