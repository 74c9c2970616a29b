package controller_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// The settings controller has one finding in all 339 perturbations, a bug: finish deletes the
// ConfigMap of the Deployment by its name. If the manager is restarted on an API server that is
// behind, it sees the earlier Deployment of the same name, which was being deleted, and deletes the
// ConfigMap of the present one. It is created again when the cache has caught up. The owner
// reference in the ConfigMap would show that it belongs to another Deployment.
func TestPerturb(t *testing.T) {
	c := perturbed(map[string]scenario.Client{"settings": func(ctx context.Context, cfg *rest.Config) error {
		return runSettings(ctx, cfg, managerOptions())
	}}, budgetOr(t, 339))
	c.Known = map[string]string{
		"deleted configmaps default/shop (stale)": "finish deletes the ConfigMap of a later Deployment of the same name",
	}
	perturb.Run(t, c)
}

// budgetOr returns the number of perturbed runs. FAKEAPI_PERTURB_BUDGET overrides it; 0 is for all.
func budgetOr(t *testing.T, budget int) int {
	t.Helper()
	text := os.Getenv("FAKEAPI_PERTURB_BUDGET")
	if text == "" {
		return budget
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// perturbed returns the configuration for the settings controller.
func perturbed(controllers map[string]scenario.Client, budget int) perturb.Config {
	shop := scenario.Ref{Kind: "deployment", Name: "shop"}
	return perturb.Config{
		Controllers: controllers,
		Setup: []scenario.Step{scenario.Apply("passwords.yaml", `apiVersion: v1
kind: Secret
metadata: {name: passwords}
stringData: {root: hunter2}
`)},
		Workload: []scenario.Step{
			scenario.Apply("shop.yaml", fmt.Sprintf(labelledDeployment, "shop", "shop", "shop", "shop")),
			scenario.Apply("blog.yaml", fmt.Sprintf(labelledDeployment, "blog", "blog", "blog", "blog")),
			scenario.Patch(shop, types.MergePatchType, `{spec: {replicas: 3}}`),
			scenario.Delete(shop),
			scenario.Apply("shop.yaml", fmt.Sprintf(labelledDeployment, "shop", "shop", "shop", "shop")),
		},
		Ignore: []string{"configmaps/heartbeat"},
		Budget: budget,
		Dir:    os.Getenv("FAKEAPI_PERTURB_DIR"),
	}
}

const labelledDeployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, labels: {example.com/site: north}}
spec:
  replicas: 1
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec: {containers: [{name: main, image: "%s:1"}]}
`

// managerOptions returns the options of a manager without sockets, which can run in a bubble.
func managerOptions() ctrl.Options {
	log := logr.Discard()
	return ctrl.Options{
		Scheme:                 scheme.Scheme,
		Logger:                 log,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             config.Controller{SkipNameValidation: new(true), Logger: log},
	}
}

// runSettings runs a manager with the settings controller until ctx is done.
func runSettings(ctx context.Context, cfg *rest.Config, options ctrl.Options, more ...manager.Runnable) error {
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).
		Complete(&settings{Client: mgr.GetClient(), secrets: mgr.GetAPIReader()})
	if err != nil {
		return err
	}
	for _, r := range more {
		if err := mgr.Add(r); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}
