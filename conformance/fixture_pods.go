package conformance

import (
	"cmp"
	"context"
	"net/http"
	"strings"
)

// noNode is the node that pods are bound to. It does not exist, so nothing runs them, and their
// grace period is not ended by a kubelet.
const noNode = "conformance-no-such-node"

// pods returns the Pods of a new namespace.
func (s *session) pods(ctx context.Context) (collection, error) {
	return s.newCollection(ctx, collection{root: "/api/v1", apiVersion: "v1", kind: "Pod", resource: "pods"}, nil)
}

// onPods returns a case that runs on Pods in a new namespace.
func onPods(c Case, check collectionCheck) Case {
	return onCollection((*session).pods, c, check)
}

// unscheduledPod returns a pod with a scheduler that does not exist, so that it stays pending.
func (c collection) unscheduledPod(name string) object {
	o := c.object(name)
	o["spec"] = object{
		"schedulerName": "conformance-no-such-scheduler", "terminationGracePeriodSeconds": 45,
		"containers": []object{{"name": "c", "image": "conformance.example.com/nothing"}},
	}
	return o
}

// boundPod returns a pod on a node that does not exist.
func (c collection) boundPod(name string) object {
	o := c.unscheduledPod(name)
	o["spec"].(object)["nodeName"] = noNode
	return o
}

// createWithRetry creates an object, with doAfterServiceAccount.
func (c collection) createWithRetry(ctx context.Context, o object, expect ...expectation) (*response, error) {
	return c.s.doAfterServiceAccount(ctx, post(c.path(), o), append([]expectation{code(http.StatusCreated)}, expect...)...)
}

// doAfterServiceAccount is like do. It retries while the service account that a Pod in a new
// namespace needs has not been created.
func (s *session) doAfterServiceAccount(ctx context.Context, c call, expect ...expectation) (*response, error) {
	var r *response
	var failed error
	err := poll(ctx, func(ctx context.Context) error {
		r, failed = s.do(ctx, c, expect...)
		if failed != nil && r != nil && r.code == http.StatusForbidden && strings.Contains(string(r.body), "serviceaccount") {
			return failed
		}
		return nil
	})
	return r, cmp.Or(err, failed)
}
