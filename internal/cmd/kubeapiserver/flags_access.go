package kubeapiserver

import (
	"time"

	cliflag "k8s.io/component-base/cli/flag"
)

func (f *Flags) authenticationFlags() []flag {
	a := &f.authentication
	return []flag{
		{"anonymous-auth", boolean(&a.anonymous, true), applied, "accept requests without credentials, as those of system:anonymous"},
		{"api-audiences", list(&a.apiAudiences), applied, "audiences that tokens of service accounts may be for; the default is the first --service-account-issuer"},
		{"authentication-config", text(&a.configFile, ""), applied, "file with an AuthenticationConfiguration; only its anonymous part is supported here"},
		{"authentication-token-webhook-cache-ttl", duration(nil, 2*time.Minute), ignored, "time for which answers of the webhook for tokens are kept"},
		{"authentication-token-webhook-config-file", text(&a.webhookConfigFile, ""), applied, "kubeconfig of a webhook that authenticates tokens; it is refused here"},
		{"authentication-token-webhook-version", text(nil, "v1beta1"), ignored, "version of the TokenReviews for the webhook"},
		{"client-ca-file", text(&a.clientCAFile, ""), applied, "file with the authorities of client certificates"},
		{"enable-bootstrap-token-auth", boolean(nil, false), ignored, "accept the tokens of Secrets of the type bootstrap.kubernetes.io/token in kube-system"},
		{"oidc-ca-file", text(nil, ""), ignored, "file with the certificate authority of the OpenID issuer"},
		{"oidc-client-id", text(&a.oidcClientID, ""), applied, "client ID for the OpenID issuer"},
		{"oidc-groups-claim", text(nil, ""), ignored, "claim with the groups of the user"},
		{"oidc-groups-prefix", text(nil, ""), ignored, "prefix of the groups"},
		{"oidc-issuer-url", text(&a.oidcIssuer, ""), applied, "URL of an OpenID issuer of tokens; it is refused here"},
		{"oidc-required-claim", custom(cliflag.NewMapStringStringNoSplit(new(map[string]string))), ignored, "claim that tokens must have, as NAME=VALUE; can be repeated"},
		{"oidc-signing-algs", list(nil, "RS256"), ignored, "algorithms of the signatures of tokens, comma separated"},
		{"oidc-username-claim", text(nil, "sub"), ignored, "claim with the name of the user"},
		{"oidc-username-prefix", text(nil, ""), ignored, "prefix of the names of users; - is none"},
		{"requestheader-allowed-names", list(&a.proxy.allowedNames), applied, "common names of the client certificates of front proxies; the default is all names"},
		{"requestheader-client-ca-file", text(&a.proxy.caFile, ""), applied, "file with the authorities of the client certificates of front proxies"},
		{"requestheader-extra-headers-prefix", list(&a.proxy.extraPrefixes), applied, "prefixes of the headers with extra fields of users, such as X-Remote-Extra-"},
		{"requestheader-group-headers", list(&a.proxy.groupHeaders), applied, "headers with the groups of users, such as X-Remote-Group"},
		{"requestheader-uid-headers", list(&a.proxy.uidHeaders), applied, "headers with the uids of users, such as X-Remote-Uid"},
		{"requestheader-username-headers", list(&a.proxy.userHeaders), applied, "headers with the names of users, such as X-Remote-User"},
		{"service-account-extend-token-expiration", boolean(&a.extendTokens, true), applied, "issue tokens of pods for a year, which clients use for 3607 seconds"},
		{"service-account-issuer", repeated(&a.issuers), applied, "issuer of the tokens of service accounts; those of further ones, if the flag is repeated, are also accepted"},
		{"service-account-jwks-uri", text(&a.jwksURI, ""), applied, "URL of the keys in the OpenID discovery document"},
		{"service-account-key-file", repeated(&a.keyFiles), applied, "file with keys that verify tokens of service accounts, private or public, in PEM form; can be repeated; the default is --tls-private-key-file"},
		{"service-account-lookup", boolean(nil, true), ignored, "accept a token only while its service account and objects exist"},
		{"service-account-max-token-expiration", duration(&a.maxTokenExpiration, 0), applied, "longest time for which a token of a service account is valid"},
		{"token-auth-file", text(&a.tokenFile, ""), applied, "CSV file with the tokens of users: TOKEN,USER,UID,\"GROUP,GROUP\""},
	}
}

func (f *Flags) authorizationFlags() []flag {
	a := &f.authorization
	return []flag{
		{"authorization-config", text(&a.configFile, ""), applied, "file with an AuthorizationConfiguration, without webhooks"},
		{"authorization-mode", list(&a.modes), applied, "authorizers in their order: AlwaysAllow, AlwaysDeny, RBAC, Node, Webhook; ABAC is refused here; the default is AlwaysAllow"},
		{"authorization-policy-file", text(&a.policyFile, ""), applied, "file with the policy of the mode ABAC"},
		{"authorization-webhook-cache-authorized-ttl", duration(&a.webhookAllowedTTL, 5*time.Minute), applied, "time for which the webhook is not asked again about an allowed request"},
		{"authorization-webhook-cache-unauthorized-ttl", duration(&a.webhookDeniedTTL, 30*time.Second), applied, "time for which the webhook is not asked again about a denied request"},
		{"authorization-webhook-config-file", text(&a.webhookConfigFile, ""), applied, "kubeconfig of the webhook of the mode Webhook"},
		{"authorization-webhook-version", text(&a.webhookVersion, "v1beta1"), applied, "version of the SubjectAccessReviews for the webhook"},
	}
}

func (f *Flags) admissionFlags() []flag {
	return []flag{
		{"admission-control", shown(deprecated("Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.", list(&f.admission.ordered))), ignored, "admission plugins in their order"},
		{"admission-control-config-file", text(nil, ""), ignored, "file with the configuration of admission plugins"},
		{"disable-admission-plugins", list(&f.admission.disabled), applied, "admission plugins to disable, comma separated"},
		{"enable-admission-plugins", list(&f.admission.enabled), applied, "admission plugins to enable besides those that are enabled by default, comma separated"},
	}
}

func (f *Flags) enablementFlags() []flag {
	return []flag{
		{"runtime-config", custom(&f.features.runtimeConfig), applied, "APIs to enable and disable, as GROUP/VERSION[/RESOURCE]=BOOL, or of a kind api/all, api/ga, api/beta, api/alpha; comma separated"},
	}
}
