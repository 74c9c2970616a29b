package kubeapiserver

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

// completeServiceAccounts sets the default of --service-account-key-file.
func (f *Flags) completeServiceAccounts() {
	a := &f.authentication
	if a.signingKeyFile == "" && len(a.keyFiles) == 0 && f.KeyFile != "" {
		a.keyFiles = []string{f.KeyFile}
	}
}

func (f *Flags) validateAuthentication() (errs []error) {
	a := &f.authentication
	if (a.oidcIssuer != "") != (a.oidcClientID != "") {
		errs = append(errs, errors.New("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"))
	}
	errs = append(errs, f.validateIssuers()...)
	for _, headers := range []struct {
		flag   string
		values []string
	}{
		{"requestheader-username-headers", a.proxy.userHeaders}, {"requestheader-group-headers", a.proxy.groupHeaders},
		{"requestheader-extra-headers-prefix", a.proxy.extraPrefixes}, {"requestheader-allowed-names", a.proxy.allowedNames},
		{"requestheader-uid-headers", a.proxy.uidHeaders},
	} {
		if slices.ContainsFunc(headers.values, func(h string) bool { return strings.TrimSpace(h) == "" }) {
			errs = append(errs, fmt.Errorf("empty value in %q", headers.flag))
		}
	}
	if len(a.proxy.uidHeaders) > 0 && !slices.ContainsFunc(a.proxy.uidHeaders, func(h string) bool { return strings.EqualFold(h, "X-Remote-Uid") }) {
		errs = append(errs, errors.New("--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work"))
	}
	return append(errs, a.validateSupport()...)
}

// validateSupport refuses ways to authenticate that do not exist here, and whose users would get
// 401.
func (a *authenticationFlags) validateSupport() (errs []error) {
	if a.oidcIssuer != "" {
		errs = append(errs, errors.New("--oidc-issuer-url is not supported here; use tokens of --token-auth-file or of service accounts"))
	}
	if a.webhookConfigFile != "" {
		errs = append(errs, errors.New("--authentication-token-webhook-config-file is not supported here; use tokens of --token-auth-file or of service accounts"))
	}
	if a.signingEndpoint != "" {
		errs = append(errs, errors.New("--service-account-signing-endpoint is not supported here; use --service-account-signing-key-file"))
	}
	return errs
}

func (f *Flags) validateIssuers() (errs []error) {
	a := &f.authentication
	seen := sets.New[string]()
	for _, issuer := range a.issuers {
		_, err := url.Parse(issuer)
		switch {
		case err != nil && strings.Contains(issuer, ":"):
			errs = append(errs, fmt.Errorf("service-account-issuer %q contained a ':' but was not a valid URL: %w", issuer, err))
		case issuer == "":
			errs = append(errs, errors.New("service-account-issuer should not be an empty string"))
		case seen.Has(issuer):
			errs = append(errs, fmt.Errorf("service-account-issuer %q is already specified", issuer))
		default:
			seen.Insert(issuer)
		}
	}
	if len(a.issuers) == 0 {
		errs = append(errs, errors.New("service-account-issuer is a required flag"))
	}
	if len(a.keyFiles) == 0 && a.signingEndpoint == "" {
		errs = append(errs, errors.New("either `--service-account-key-file` or `--service-account-signing-endpoint` must be set"))
	}
	if a.jwksURI != "" {
		if u, err := url.Parse(a.jwksURI); err != nil {
			errs = append(errs, fmt.Errorf("service-account-jwks-uri must be a valid URL: %w", err))
		} else if u.Scheme != "https" {
			errs = append(errs, fmt.Errorf("service-account-jwks-uri requires https scheme, parsed as: %v", u))
		}
	}
	return errs
}

// validateServiceAccountKeys checks the flags that tokens of service accounts are issued with.
func (f *Flags) validateServiceAccountKeys() []error {
	a := &f.authentication
	if a.signingEndpoint != "" {
		if a.signingKeyFile != "" || len(a.keyFiles) > 0 {
			return []error{errors.New("can't set `--service-account-signing-key-file` and/or `--service-account-key-file` and `--service-account-signing-endpoint` simultaneously")}
		}
		return nil
	}
	hasIssuer := len(a.issuers) > 0 && a.issuers[0] != ""
	switch {
	case a.signingKeyFile == "" && !hasIssuer && len(a.apiAudiences) == 0:
		return []error{errors.New("--service-account-signing-key-file and --service-account-issuer are required flags")}
	case a.signingKeyFile == "" || !hasIssuer:
		return []error{errors.New("--service-account-signing-key-file, --service-account-issuer, and --api-audiences should be specified together")}
	}
	return nil
}

func (f *Flags) validateAuthorization() (errs []error) {
	a := &f.authorization
	if a.configFile != "" {
		for _, name := range []string{"authorization-mode", "authorization-policy-file", "authorization-webhook-config-file", "authorization-webhook-version",
			"authorization-webhook-cache-authorized-ttl", "authorization-webhook-cache-unauthorized-ttl"} {
			if f.all.Changed(name) {
				return []error{errors.New("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined")}
			}
		}
		return nil
	}
	for _, mode := range a.modes {
		switch {
		case !slices.Contains(authorizationModes(), mode):
			errs = append(errs, fmt.Errorf("authorization-mode %q is not a valid mode", mode))
		case mode == modeABAC && a.policyFile == "":
			errs = append(errs, errors.New("authorization-mode ABAC's authorization policy file not passed"))
		case mode == modeWebhook && a.webhookConfigFile == "":
			errs = append(errs, errors.New("authorization-mode Webhook's authorization config file not passed"))
		}
	}
	if a.policyFile != "" && !slices.Contains(a.modes, modeABAC) {
		errs = append(errs, errors.New("cannot specify --authorization-policy-file without mode ABAC"))
	}
	if a.webhookConfigFile != "" && !slices.Contains(a.modes, modeWebhook) {
		errs = append(errs, errors.New("cannot specify --authorization-webhook-config-file without mode Webhook"))
	}
	if sets.New(a.modes...).Len() != len(a.modes) {
		errs = append(errs, fmt.Errorf("authorization-mode %q has mode specified more than once", a.modes))
	}
	return errs
}
