package operators

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"example.com/fakeapi/scenario"
)

// console returns an operator that creates a link for each ConfigMap with the label role=app, which
// is a ConfigMap with the label link. It has no informer, and lists every seven seconds.
func console() Operator {
	return Operator{
		Name:   "console",
		Source: "https://github.com/cryostatio/cryostat-operator/issues/163 https://github.com/databricks-solutions/databricks-genie-workbench/pull/324",
		Bug:    "The create of an object with a generated name is repeated after any error.",
		Shows:  "The response to the create is lost.",
		Workload: []scenario.Step{
			configMap("web", "role", "app", "url", "http://web"),
			configMap("api", "role", "app", "url", "http://api"),
			remove("configmap", "api"),
		},
		Buggy:    runConsole(createGenerated),
		Repaired: runConsole(createNamed),
		Scenario: consoleScenario,
	}
}

const consoleScenario = `
apply web.yaml
fault lost: when verb(create) && userAgent(operator) && during(committed) && first(1) do reset
watch links configmap --selector link
run operator
advance 1m
expect requests operator "POST /api/v1/namespaces/default/configmaps 201" 0
expect error "expected of watch links" expect events links ADDED ... ADDED ...
-- web.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web, labels: {role: app}}
data: {url: "http://web"}
`

// linkLabel is the label of a link with the name of its app.
const linkLabel = "link"

// createLinkFunc creates the link of an app that has none.
type createLinkFunc func(ctx context.Context, client kubernetes.Interface, link *corev1.ConfigMap) error

// createGenerated is createLinkFunc with the bug.
func createGenerated(ctx context.Context, client kubernetes.Interface, link *corev1.ConfigMap) error {
	link.GenerateName = link.Labels[linkLabel] + "-link-"
	always := func(error) bool { return ctx.Err() == nil }
	return retry.OnError(retry.DefaultRetry, always, func() error {
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, link, metav1.CreateOptions{})
		return err
	})
}

// createNamed is createLinkFunc without the bug. The name is derived from that of the app, so at
// most one create succeeds.
func createNamed(ctx context.Context, client kubernetes.Interface, link *corev1.ConfigMap) error {
	link.Name = link.Labels[linkLabel] + "-link-1"
	_, err := client.CoreV1().ConfigMaps("default").Create(ctx, link, metav1.CreateOptions{})
	return ignoreAlreadyExists(err)
}

func runConsole(create createLinkFunc) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		poll(ctx, 7*time.Second, func(ctx context.Context) error { return createLinks(ctx, client, create) })
		return nil
	}
}

// createLinks creates the links that are missing. They are deleted with their owners.
func createLinks(ctx context.Context, client kubernetes.Interface, create createLinkFunc) error {
	all := client.CoreV1().ConfigMaps("default")
	apps, err := all.List(ctx, metav1.ListOptions{LabelSelector: "role=app"})
	if err != nil {
		return err
	}
	links, err := all.List(ctx, metav1.ListOptions{LabelSelector: linkLabel})
	if err != nil {
		return err
	}
	linked := map[string]bool{}
	for _, link := range links.Items {
		owner := metav1.GetControllerOf(&link)
		linked[link.Labels[linkLabel]] = owner != nil && link.DeletionTimestamp == nil
	}
	for i := range apps.Items {
		app := &apps.Items[i]
		if linked[app.Name] || app.DeletionTimestamp != nil {
			continue
		}
		err := create(ctx, client, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{linkLabel: app.Name}, OwnerReferences: ownedBy(app)},
			Data:       app.Data,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
