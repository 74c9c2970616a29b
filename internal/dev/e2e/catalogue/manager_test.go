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

// restartDelay is the time between two lives of a manager.
const restartDelay = time.Second

// runManagers runs managers, one after the other, until ctx ends, as a cluster restarts a
// process that has ended. setUp says what a manager does. That one could not be
// made, or has ended with an error, is what a process is restarted for.
func runManagers(ctx context.Context, options ctrl.Options, cfg *rest.Config, setUp func(context.Context, ctrl.Manager) error) error {
	for ctx.Err() == nil {
		_ = runManager(ctx, options, cfg, setUp) // the next life will tell
		select {
		case <-ctx.Done():
		case <-time.After(restartDelay):
		}
	}
	return nil
}

// runManager is the life of one manager.
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

// managerOptions are the options of a manager that listens on no socket, so that it can run
// in a bubble.
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
