package resourcek8sio

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/resource"
)

func TestValidateStatusAccess(t *testing.T) {
	const nodeName = "authentication.kubernetes.io/node-name"
	in := func(key string, operator corev1.NodeSelectorOperator, names ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: names}}}
	}
	onN1 := in("metadata.name", corev1.NodeSelectorOpIn, "n1")
	both := onN1
	both.MatchExpressions = []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}
	agent := &user.DefaultInfo{Name: "system:serviceaccount:ns:agent", Extra: map[string][]string{nodeName: {"n1"}}}
	arbitrary, associated := []string{"arbitrary-node:update driver ns/d"}, []string{"associated-node:update driver ns/d", "arbitrary-node:update driver ns/d"}
	for name, c := range map[string]struct {
		user  *user.DefaultInfo
		terms []corev1.NodeSelectorTerm
		want  []string
	}{
		"on its node":         {agent, []corev1.NodeSelectorTerm{onN1}, associated},
		"on another node":     {agent, []corev1.NodeSelectorTerm{in("metadata.name", corev1.NodeSelectorOpIn, "n2")}, arbitrary},
		"two nodes":           {agent, []corev1.NodeSelectorTerm{in("metadata.name", corev1.NodeSelectorOpIn, "n1", "n1")}, arbitrary},
		"two terms":           {agent, []corev1.NodeSelectorTerm{onN1, onN1}, arbitrary},
		"another field":       {agent, []corev1.NodeSelectorTerm{in("metadata.namespace", corev1.NodeSelectorOpIn, "n1")}, arbitrary},
		"another operator":    {agent, []corev1.NodeSelectorTerm{in("metadata.name", corev1.NodeSelectorOpNotIn, "n1")}, arbitrary},
		"labels":              {agent, []corev1.NodeSelectorTerm{both}, arbitrary},
		"no terms":            {agent, nil, arbitrary},
		"a node":              {&user.DefaultInfo{Name: "system:node:n1", Extra: agent.Extra}, []corev1.NodeSelectorTerm{onN1}, arbitrary},
		"without a node":      {&user.DefaultInfo{Name: agent.Name}, []corev1.NodeSelectorTerm{onN1}, arbitrary},
		"bound to two nodes":  {&user.DefaultInfo{Name: agent.Name, Extra: map[string][]string{nodeName: {"n1", "n2"}}}, []corev1.NodeSelectorTerm{onN1}, arbitrary},
		"bound to a bad name": {&user.DefaultInfo{Name: agent.Name, Extra: map[string][]string{nodeName: {"n_1"}}}, []corev1.NodeSelectorTerm{in("metadata.name", corev1.NodeSelectorOpIn, "n_1")}, arbitrary},
	} {
		t.Run(name, func(t *testing.T) {
			old := &resourcev1.ResourceClaim{}
			old.Namespace = "ns"
			old.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}
			changed := old.DeepCopy()
			changed.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: "d"}}
			var asked []string
			ctx := resource.WithAccess(t.Context(), &resource.Access{
				Request: authorizer.AttributesRecord{User: c.user, Verb: "update"},
				UnconditionalAuthorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
					asked = append(asked, a.GetVerb()+" "+a.GetSubresource()+" "+a.GetNamespace()+"/"+a.GetName())
					return authorizer.DecisionNoOpinion, "", nil
				}),
			})
			errs := validateStatusAccess(ctx, changed, old)
			require.Len(t, errs, 1)
			require.Equal(t, c.want, asked)
			require.Empty(t, validateStatusAccess(ctx, changed, changed))
			require.Empty(t, validateStatusAccess(t.Context(), changed, old), "everything is allowed")
		})
	}
}

func TestChangedDrivers(t *testing.T) {
	type status = resourcev1.AllocatedDeviceStatus
	share := "s"
	eth0 := &resourcev1.NetworkDeviceData{InterfaceName: "eth0"}
	old := []status{{Driver: "same", Device: "0"}, {Driver: "changed", Device: "0"}, {Driver: "removed", Device: "0"}, {Driver: "shared", Device: "0"}}
	devices := []status{{Driver: "same", Device: "0", Conditions: nil}, {Driver: "changed", Device: "0", NetworkData: eth0}, {Driver: "added", Device: "0"}, {Driver: "shared", Device: "0", ShareID: &share}}
	require.Equal(t, []string{"added", "changed", "removed", "shared"}, changedDrivers(devices, old))
	require.Empty(t, changedDrivers(old, old))
	require.Empty(t, changedDrivers(nil, nil))
}
