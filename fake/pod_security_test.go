package fakeapi_test

import (
	"testing"

	podsecurity "k8s.io/pod-security-admission/test"

	fakeapi "example.com/fakeapi/fake"
)

// The suite of k8s.io/pod-security-admission for clusters passes: pods and Deployments that each
// check of each version of the Pod Security Standards allows and refuses.
func TestPodSecuritySuite(t *testing.T) {
	podsecurity.Run(t, podsecurity.Options{ClientConfig: fakeapi.Start(t).RESTConfig()})
}
