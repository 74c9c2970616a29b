package kubectl_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Only resources with replicas can be scaled.
func TestScaleOfTypes(t *testing.T) {
	u := newUser(t)
	u.do("apply", "-f", manifest)
	require.Equal(t, "statefulset.apps/db scaled\n", u.do("scale", "statefulset/db", "-n", "shop", "--replicas=0"))
	require.Equal(t, "0", u.do("get", "statefulset", "db", "-n", "shop", "-o", "jsonpath={.spec.replicas}"))
	require.Equal(t, "Error from server (NotFound): the server could not find the requested resource\n",
		u.doRefused("scale", "configmap/web", "-n", "shop", "--replicas=1"))
	require.Equal(t, "Error from server (NotFound): deployments.apps \"nope\" not found\n",
		u.doRefused("scale", "deployment/nope", "-n", "shop", "--replicas=1"))
}

// kubectl autoscale finds the resource of the scale target by discovery.
func TestAutoscale(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx:1")
	require.Equal(t, "horizontalpodautoscaler.autoscaling/web autoscaled\n", u.do("autoscale", "deployment/web", "--min=1", "--max=3"))
	require.Equal(t, "Deployment/web 1 3", u.do("get", "hpa", "web", "-o",
		"jsonpath={.spec.scaleTargetRef.kind}/{.spec.scaleTargetRef.name} {.spec.minReplicas} {.spec.maxReplicas}"))
}
