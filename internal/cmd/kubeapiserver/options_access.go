package kubeapiserver

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// The bounds of --service-account-max-token-expiration.
const (
	minTokenExpiration = time.Hour
	maxTokenExpiration = 1 << 32 * time.Second
)

// serviceAccountOptions returns the keys and issuers of the tokens of service accounts.
func (f *Flags) serviceAccountOptions(files directory) ([]fakeapi.Option, error) {
	a := &f.authentication
	keys := fakeapi.ServiceAccountKeys{
		Issuers: a.issuers, Audiences: a.apiAudiences, MaxTokenExpiration: a.maxTokenExpiration,
		ExactTokenExpiration: !a.extendTokens, JWKSURI: a.jwksURI,
	}
	var err error
	if keys.SigningKey, err = files.read(a.signingKeyFile); err != nil {
		return nil, fmt.Errorf("failed to parse service-account-issuer-key-file: %w", err)
	}
	if _, err := keyutil.ParsePrivateKeyPEM(keys.SigningKey); err != nil {
		return nil, fmt.Errorf("failed to parse service-account-issuer-key-file: error parsing private key file %s: %w", a.signingKeyFile, err)
	}
	if d := a.maxTokenExpiration; d != 0 && (d < minTokenExpiration || d > maxTokenExpiration) {
		return nil, errors.New("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
	}
	for _, name := range a.keyFiles {
		data, err := files.read(name)
		if err == nil {
			_, err = keyutil.ParsePublicKeysPEM(data)
		}
		if err != nil {
			return nil, fmt.Errorf("error reading public key file %s: %w", name, err)
		}
		keys.VerifyingKeys = append(keys.VerifyingKeys, data)
	}
	return []fakeapi.Option{fakeapi.WithServiceAccountKeys(keys)}, nil
}

// authenticationOptions returns the ways to authenticate users. Requests always need credentials,
// unless they are anonymous.
func (f *Flags) authenticationOptions(files directory) (opts []fakeapi.Option, err error) {
	a := &f.authentication
	if a.clientCAFile == "" {
		opts = append(opts, fakeapi.WithClientCA())
	} else {
		authorities, err := files.read(a.clientCAFile)
		if err != nil {
			return nil, fmt.Errorf("unable to load client CA file %q: %w", a.clientCAFile, err)
		}
		opts = append(opts, fakeapi.WithClientCA(authorities))
	}
	if a.tokenFile != "" {
		tokens, err := readTokens(files, a.tokenFile)
		if err != nil {
			return nil, err
		}
		if len(tokens) > 0 {
			opts = append(opts, fakeapi.WithTokens(tokens...))
		}
	}
	proxy, err := a.proxy.options(files)
	if err != nil {
		return nil, err
	}
	opts = append(opts, proxy...)
	anonymous := a.anonymous
	if a.configFile != "" {
		if anonymous, err = readAuthenticationConfig(files, a.configFile, anonymous); err != nil {
			return nil, err
		}
	}
	if !anonymous {
		opts = append(opts, fakeapi.WithoutAnonymousAuth())
	}
	return opts, nil
}

// options returns the authentication of users by headers of a front proxy, which needs the
// authority of its certificate.
func (p *frontProxyFlags) options(files directory) ([]fakeapi.Option, error) {
	if p.caFile == "" || len(p.userHeaders) == 0 {
		return nil, nil
	}
	authorities, err := files.read(p.caFile)
	if err != nil {
		return nil, fmt.Errorf("unable to load request header CA file %q: %w", p.caFile, err)
	}
	return []fakeapi.Option{fakeapi.WithRequestHeaderAuthentication(fakeapi.RequestHeaderAuthentication{
		ClientCA: authorities, AllowedNames: p.allowedNames, UsernameHeaders: p.userHeaders, UIDHeaders: p.uidHeaders,
		GroupHeaders: p.groupHeaders, ExtraHeaderPrefixes: p.extraPrefixes,
	})}, nil
}

// readTokens reads the file of --token-auth-file: TOKEN,USER,UID,"GROUP,GROUP". The uid is not
// used.
func readTokens(files directory, name string) (tokens []fakeapi.Token, err error) {
	data, err := files.read(name)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(strings.NewReader(string(data)))
	r.FieldsPerRecord = -1
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil {
			return nil, err
		}
		if len(record) < 3 {
			return nil, fmt.Errorf("token file '%s' must have at least 3 columns (token, user name, user uid), found %d", name, len(record))
		}
		if record[0] == "" {
			continue // kube-apiserver logs that a token must not be empty
		}
		token := fakeapi.Token{Value: record[0], User: record[1]}
		if len(record) >= 4 {
			token.Groups = strings.Split(record[3], ",")
		}
		tokens = append(tokens, token)
	}
}

// readAuthenticationConfig reads the file of --authentication-config and returns whether anonymous
// requests are accepted, which is byDefault if the file does not say it.
func readAuthenticationConfig(files directory, name string, byDefault bool) (anonymous bool, err error) {
	var config apiserverv1.AuthenticationConfiguration
	if err := readConfig(files, name, &config); err != nil {
		return false, fmt.Errorf("failed to load authentication configuration from file %q: %w", name, err)
	}
	switch {
	case len(config.JWT) > 0:
		return false, fmt.Errorf("--authentication-config %s: JWT authenticators are not supported here; use tokens of --token-auth-file or of service accounts", name)
	case config.Anonymous == nil:
		return byDefault, nil
	case len(config.Anonymous.Conditions) > 0:
		return false, fmt.Errorf("--authentication-config %s: conditions of anonymous requests are not supported here", name)
	}
	return config.Anonymous.Enabled, nil
}

// readConfig decodes a file with an object of the group apiserver.config.k8s.io. The versions v1,
// v1beta1 and v1alpha1 have the same fields.
func readConfig(files directory, name string, config any) error {
	data, err := files.read(name)
	if err != nil {
		return err
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return errors.New("empty config data")
	}
	return yaml.UnmarshalStrict(data, config)
}
