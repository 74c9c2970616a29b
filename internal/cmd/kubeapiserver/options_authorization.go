package kubeapiserver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/util/webhook"
	webhookauthorizer "k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	webhookmetrics "k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"

	fakeapi "example.com/fakeapi/fake"
)

// modeWebhook and modeABAC are the modes that package fakeapi does not implement.
const (
	modeWebhook = "Webhook"
	modeABAC    = "ABAC"
)

// authorizationModes returns the modes of --authorization-mode that are valid.
func authorizationModes() []string {
	return []string{"AlwaysAllow", "AlwaysDeny", modeABAC, modeWebhook, "RBAC", "Node"}
}

// authorizationOptions returns the authorizers. The webhook is asked before the other ones.
func (f *Flags) authorizationOptions(files directory) (opts []fakeapi.Option, err error) {
	a := &f.authorization
	modes := a.modes
	if a.configFile != "" {
		if modes, err = readAuthorizationConfig(files, a.configFile); err != nil {
			return nil, err
		}
	}
	if len(modes) == 0 {
		modes = []string{string(fakeapi.ModeAlwaysAllow)}
	}
	if slices.Contains(modes, modeABAC) {
		return nil, fmt.Errorf("--authorization-mode=%s is not supported here; use RBAC", modeABAC)
	}
	var others []fakeapi.AuthorizationMode
	for _, mode := range modes {
		if mode != modeWebhook {
			others = append(others, fakeapi.AuthorizationMode(mode))
			continue
		}
		w, err := a.webhook(files)
		if err != nil {
			return nil, err
		}
		opts = append(opts, fakeapi.WithAuthorizer(w))
	}
	if len(others) == 0 { // the webhook decides alone
		others = []fakeapi.AuthorizationMode{fakeapi.ModeAlwaysDeny}
	}
	return append(opts, fakeapi.WithAuthorizationModes(others...)), nil
}

// webhook returns the authorizer that asks the webhook of --authorization-webhook-config-file.
func (a *authorizationFlags) webhook(files directory) (authorizer.UnconditionalAuthorizer, error) {
	config, err := webhook.LoadKubeconfig(files.path(a.webhookConfigFile), nil)
	if err != nil {
		return nil, err
	}
	backoff := wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}
	compiler := authorizationcel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	return webhookauthorizer.New(config, a.webhookVersion, a.webhookAllowedTTL, a.webhookDeniedTTL, backoff, authorizer.DecisionNoOpinion, nil,
		"webhook", webhookmetrics.NoopAuthorizerMetrics{}, compiler)
}

// readAuthorizationConfig reads the file of --authorization-config and returns its modes.
func readAuthorizationConfig(files directory, name string) (modes []string, err error) {
	var config apiserverv1.AuthorizationConfiguration
	err = readConfig(files, name, &config)
	if err == nil && len(config.Authorizers) == 0 {
		err = errors.New("authorizers: Required value: at least one authorization mode must be defined")
	}
	if err != nil {
		return nil, fmt.Errorf("failed to load AuthorizationConfiguration from file: %w", err)
	}
	for i, a := range config.Authorizers {
		switch {
		case a.Type == modeWebhook:
			return nil, fmt.Errorf("--authorization-config %s: webhooks are not supported here; use --authorization-mode=Webhook and --authorization-webhook-config-file", name)
		case !slices.Contains(authorizationModes(), a.Type):
			return nil, fmt.Errorf("failed to load AuthorizationConfiguration from file: authorizers[%d].type: Unsupported value: %q", i, a.Type)
		}
		modes = append(modes, a.Type)
	}
	return modes, nil
}
