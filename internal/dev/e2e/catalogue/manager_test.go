package catalogue_test

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// restartDelay is the time before a manager is restarted.
const restartDelay = time.Second

// runManagers runs a manager and restarts it whenever it ends, until ctx is done, as a cluster
// restarts a process. It ignores errors.
func runManagers(ctx context.Context, options ctrl.Options, cfg *rest.Config, setUp func(context.Context, ctrl.Manager) error) error {
	for ctx.Err() == nil {
		_ = runManager(ctx, options, cfg, setUp) // the manager is restarted in any case
		select {
		case <-ctx.Done():
		case <-time.After(restartDelay):
		}
	}
	return nil
}

// runManager runs one manager.
func runManager(ctx context.Context, options ctrl.Options, cfg *rest.Config, setUp func(context.Context, ctrl.Manager) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return err
	}
	if err := setUp(ctx, mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

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
