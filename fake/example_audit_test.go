package fakeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// The audit log of writes, by a policy as kube-apiserver reads it from --audit-policy-file.
func ExampleWithAuditLog() {
	policy := &auditv1.Policy{
		OmitStages: []auditv1.Stage{auditv1.StageRequestReceived},
		Rules: []auditv1.PolicyRule{
			{Level: auditv1.LevelNone, Verbs: []string{"get", "list", "watch"}},
			{Level: auditv1.LevelRequest},
		},
	}
	var log bytes.Buffer
	srv, err := fakeapi.New(fakeapi.WithAuditLog(policy, &log))
	check(err)
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	_, err = maps.Create(context.Background(), newConfigMap("settings"), metav1.CreateOptions{})
	check(err)
	_, err = maps.List(context.Background(), metav1.ListOptions{})
	check(err)
	check(srv.Close())

	var event auditv1.Event
	check(json.Unmarshal(log.Bytes(), &event))
	fmt.Println(event.User.Username, event.Verb, event.ObjectRef.Resource, event.ObjectRef.Name, event.ResponseStatus.Code)
	fmt.Println("the request had", string(event.RequestObject.Raw))
	// Output:
	// system:admin create configmaps settings 201
	// the request had {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings"},"data":{"a":"1"}}
}
