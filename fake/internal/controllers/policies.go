package controllers

import (
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"example.com/fakeapi/fake/internal/codec"
)

// policyStatusManager owns the status of policies.
const policyStatusManager = "validatingadmissionpolicy-status"

// isPolicy reports whether a key is that of a ValidatingAdmissionPolicy.
func isPolicy(key string) bool {
	return strings.HasPrefix(key, "validatingadmissionpolicies.admissionregistration.k8s.io/")
}

// updatePolicyStatus checks the types of the expressions of a policy, once for each generation, and
// writes the warnings to the status.
func (m *Controllers) updatePolicyStatus(it *item) error {
	obj, err := codec.DecodeStored(it.res, it.rec)
	if err != nil {
		return err
	}
	policy := obj.(*admissionregistrationv1.ValidatingAdmissionPolicy)
	if policy.Generation <= policy.Status.ObservedGeneration {
		return nil
	}
	typeChecking := map[string]any{}
	var warnings []any
	for _, w := range m.checkTypes(policy) {
		warnings = append(warnings, map[string]any{"fieldRef": w.FieldRef, "warning": w.Warning})
	}
	if len(warnings) > 0 {
		typeChecking["expressionWarnings"] = warnings
	}
	return m.writer.ApplyStatus(it.res, it.rec.Key, it.rec.UID, policyStatusManager, map[string]any{
		"observedGeneration": policy.Generation, "typeChecking": typeChecking,
	})
}
