package operators

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/fakeapi/scenario"
)

// credentials returns an operator that keeps a Secret for each ConfigMap with the label
// role=database.
func credentials() Operator {
	return Operator{
		Name:   "credentials",
		Source: "https://github.com/zalando/postgres-operator/pull/941 https://github.com/kubernetes-sigs/controller-runtime/issues/243",
		Bug:    "The Secret is deleted by the handler of delete events, once.",
		Shows:  "The database is deleted while the operator is away, or the delete of the Secret fails.",
		Workload: []scenario.Step{
			configMap("orders", "role", "database", "user", "orders"), remove("configmap", "orders"),
			configMap("users", "role", "database", "user", "users"), patch("configmap", "users", `{data: {user: admin}}`),
		},
		Buggy:    runCredentials(true),
		Repaired: runCredentials(false),
		Scenario: credentialsScenario,
	}
}

const credentialsScenario = `
apply orders.yaml
run operator
expect secret/orders
stop operator
delete configmap/orders
run operator
advance 1m
expect absent secret/orders
-- orders.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: orders, labels: {role: database}}
data: {user: orders}
`

// databaseLabel is the label of a Secret with the name of its database.
const databaseLabel = "database"

// runCredentials returns the operator. If byEvent is true, it deletes a Secret only when it is told
// that the database was deleted.
func runCredentials(byEvent bool) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(ctx, config)
		if err != nil {
			return err
		}
		databases, secrets := c.informers.Core().V1().ConfigMaps().Informer(), c.informers.Core().V1().Secrets().Informer()
		err = errors.Join(c.watch(databases, labelled("role", "database")), c.watch(secrets, valueOf(databaseLabel)))
		if byEvent {
			_, handlerErr := databases.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
				if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
					utilruntime.HandleError(deleteCredentials(ctx, c.client, name.Name))
				}
			}})
			err = errors.Join(err, handlerErr)
		}
		if err != nil {
			return err
		}
		return c.run(ctx, func(ctx context.Context, name string) error { return syncCredentials(ctx, c.client, name, byEvent) })
	}
}

// syncCredentials creates or corrects the Secret of a database. Unless that is done by an event, it
// deletes the Secret of a database that does not exist.
func syncCredentials(ctx context.Context, client kubernetes.Interface, name string, byEvent bool) error {
	database, err := client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !byEvent {
		return deleteCredentials(ctx, client, name)
	}
	if err != nil || database.Labels["role"] != "database" {
		return ignoreNotFound(err)
	}
	secrets := client.CoreV1().Secrets("default")
	data := map[string][]byte{"user": []byte(database.Data["user"])}
	secret, err := secrets.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{databaseLabel: name}},
			Data:       data,
		}, metav1.CreateOptions{})
	case err == nil && string(secret.Data["user"]) != database.Data["user"]:
		secret.Data = data
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	}
	return err
}

// deleteCredentials deletes the Secret of a database.
func deleteCredentials(ctx context.Context, client kubernetes.Interface, name string) error {
	secrets := client.CoreV1().Secrets("default")
	secret, err := secrets.Get(ctx, name, metav1.GetOptions{})
	if err != nil || secret.Labels[databaseLabel] != name {
		return ignoreNotFound(err)
	}
	return ignoreNotFound(secrets.Delete(ctx, name, onlyThis(secret)))
}
