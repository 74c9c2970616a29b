package conformance

import "context"

// limitCRs returns the Limits of the run, the cluster-scoped objects of a CRD. Their spec has an
// integer "most". The first call of a run creates the CRD. The case is skipped if the server has no
// custom resources.
func (s *session) limitCRs(ctx context.Context) (collection, error) {
	limits, err := s.run.crdLimit.get(ctx, func(ctx context.Context) (collection, error) {
		group := s.run.crdGroup()
		limits := collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "Limit", resource: "limits"}
		definition := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", limits.groupResource())
		definition["spec"] = object{
			"group": group, "scope": "Cluster", "names": object{"plural": "limits", "singular": "limit", "kind": "Limit", "listKind": "LimitList"},
			"versions": []object{crdVersion("v1", object{"spec": objectSchema(object{"most": typeSchema("integer")})})},
		}
		return limits, s.run.installCRD(ctx, definition, limits)
	})
	limits.s = s
	return limits, err
}
