package conformance

import (
	"context"
	"net/http"
	"strings"
)

// noNode is the node that pods are bound to. There is no such node, so nothing runs them, and nothing ends their grace period but the clock.
const noNode = "conformance-no-such-node"

// pods gives a fresh namespace and its Pods.
func (s *session) pods(ctx context.Context) (collection, error) {
	return s.newCollection(ctx, collection{root: "/api/v1", apiVersion: "v1", kind: "Pod", resource: "pods"}, nil)
}

// onPods makes a case that runs on Pods in a fresh namespace.
func onPods(c Case, check collectionCheck) Case {
	c.check = func(ctx context.Context, s *session) error {
		in, err := s.pods(ctx)
		if err != nil {
			return err
		}
		return check(ctx, s, in)
	}
	return c
}

// unscheduledPod is a pod that no scheduler knows to be its own, so it stays pending and nothing changes it.
func (c collection) unscheduledPod(name string) object {
	o := c.object(name)
	o["spec"] = object{
		"schedulerName": "conformance-no-such-scheduler", "terminationGracePeriodSeconds": 45,
		"containers": []object{{"name": "c", "image": "conformance.example.com/nothing"}},
	}
	return o
}

// boundPod is a pod on the node that does not exist.
func (c collection) boundPod(name string) object {
	o := c.unscheduledPod(name)
	o["spec"].(object)["nodeName"] = noNode
	return o
}

// createWithRetry stores an object. A Pod in a fresh namespace has to wait for a controller to make the service account that it needs.
func (c collection) createWithRetry(ctx context.Context, o object, expect ...expectation) (*response, error) {
	var a *response
	var failed error
	err := poll(ctx, func(ctx context.Context) error {
		a, failed = c.s.do(ctx, post(c.path(), o), append([]expectation{code(http.StatusCreated)}, expect...)...)
		if failed != nil && a != nil && a.code == http.StatusForbidden && strings.Contains(string(a.body), "serviceaccount") {
			return failed
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	return a, err
}
