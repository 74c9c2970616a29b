package fakeapi

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
)

// RequestHeaderAuthentication says which requests of a proxy name their user in headers. Its fields
// are those of the flags of kube-apiserver that begin with --requestheader.
type RequestHeaderAuthentication struct {
	// ClientCA has the authorities of the proxy's client certificate in PEM. AllowedNames are the
	// common names of the certificate; all are allowed if it is empty.
	ClientCA     []byte
	AllowedNames []string
	// The headers of the user, such as X-Remote-User, X-Remote-Uid and X-Remote-Group, and the
	// prefixes of those of the extra fields, such as X-Remote-Extra-. There must be a header of the
	// name.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraHeaderPrefixes []string
}

// WithRequestHeaderAuthentication authenticates requests of a proxy, such as the aggregator of
// another API server, by their headers
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#authenticating-proxy).
// It is tried before client certificates and tokens. It includes WithClientCA without other
// authorities. The ConfigMap extension-apiserver-authentication in kube-system has this
// configuration, from which aggregated API servers read it.
func WithRequestHeaderAuthentication(c RequestHeaderAuthentication) Option {
	return func(o *options) error {
		if _, err := c.authenticator(); err != nil {
			return fmt.Errorf("fakeapi: request header authentication: %w", err)
		}
		o.requestHeaders, o.tls, o.clientCertificates = &c, true, true
		return nil
	}
}

// authenticator returns the authenticator of requests, nil without the option.
func (c *RequestHeaderAuthentication) authenticator() (authenticator.Request, error) {
	if c == nil {
		return nil, nil
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.ClientCA) {
		return nil, errors.New("the client authority is not a certificate in PEM form")
	}
	if len(c.UsernameHeaders) == 0 {
		return nil, errors.New("there is no header of the user name")
	}
	if slices.Contains(slices.Concat(c.UsernameHeaders, c.UIDHeaders, c.GroupHeaders, c.ExtraHeaderPrefixes), "") {
		return nil, errors.New("the name of a header is empty")
	}
	options := x509request.DefaultVerifyOptions()
	options.Roots = roots
	type names = headerrequest.StaticStringSlice
	return headerrequest.NewDynamicVerifyOptionsSecure(x509request.StaticVerifierFn(options), names(c.AllowedNames),
		names(c.UsernameHeaders), names(c.UIDHeaders), names(c.GroupHeaders), names(c.ExtraHeaderPrefixes)), nil
}

// addTo adds the configuration to the data of the ConfigMap extension-apiserver-authentication.
func (c *RequestHeaderAuthentication) addTo(data map[string]string) error {
	if c == nil {
		return nil
	}
	data["requestheader-client-ca-file"] = string(c.ClientCA)
	lists := map[string][]string{
		"requestheader-allowed-names": c.AllowedNames, "requestheader-username-headers": c.UsernameHeaders,
		"requestheader-group-headers": c.GroupHeaders, "requestheader-extra-headers-prefix": c.ExtraHeaderPrefixes,
	}
	if len(c.UIDHeaders) > 0 {
		lists["requestheader-uid-headers"] = c.UIDHeaders
	}
	for key, list := range lists {
		text, err := json.Marshal(append([]string{}, list...))
		if err != nil {
			return err
		}
		data[key] = string(text)
	}
	return nil
}
