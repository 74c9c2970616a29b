package scenario_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/scenario"
)

const accountYAML = `apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: robot}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
- {kind: ServiceAccount, name: robot, namespace: default}
`

// A client that runs as a service account loses a permission, and then its token.
func ExampleRunClientAs() {
	const account = "system:serviceaccount:default:robot"
	lister := func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		for {
			_, _ = client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Minute):
			}
		}
	}
	log, err := scenario.Play("robot.txtar", mustPrint(
		scenario.AuthorizationMode(fakeapi.ModeRBAC),
		scenario.Apply("account.yaml", accountYAML),
		scenario.RunClientAs("robot", account, ""),
		scenario.Delete(scenario.Ref{Kind: "rolebinding", Name: "robot"}),
		scenario.Advance(time.Minute),
		scenario.Apply("account.yaml", accountYAML),
		scenario.Advance(time.Minute),
		scenario.ExpireToken(account),
		scenario.Advance(time.Minute),
		scenario.RotateToken(account),
		scenario.Advance(2*time.Minute),
	), scenario.Config{Clients: map[string]scenario.Client{"robot": lister}})
	if err != nil {
		fmt.Println(err)
	}
	for _, code := range log.ClientLogs()["robot /api/v1/namespaces/default/configmaps"] {
		fmt.Println(code)
	}
	// Output:
	// GET 200
	// GET 403
	// GET 200
	// GET 401
	// GET 200
	// GET 200
}

// mustPrint returns the text of steps.
func mustPrint(steps ...scenario.Step) string {
	text, err := scenario.Print(steps...)
	if err != nil {
		panic(err)
	}
	return text
}
