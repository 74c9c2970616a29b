package scenario

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/rest"
)

// tokenFiles are the files with the tokens of the service accounts that clients run as.
type tokenFiles struct {
	dir    string // "" without files
	byUser map[string]*tokenFile
}

// tokenFile is a file with the token of a service account, as in a Pod.
type tokenFile struct{ path, token string }

// remove removes the files.
func (f *tokenFiles) remove() error {
	if f.dir == "" {
		return nil
	}
	return os.RemoveAll(f.dir)
}

// write writes a token to the file of a user. Readers see the old or the new token.
func (f *tokenFiles) write(user, token string) (err error) {
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "fakeapi-tokens-"); err != nil {
			return err
		}
		f.byUser = map[string]*tokenFile{}
	}
	file := f.byUser[user]
	if file == nil {
		file = &tokenFile{path: filepath.Join(f.dir, strconv.Itoa(len(f.byUser)))}
		f.byUser[user] = file
	}
	file.token = token
	if err := os.WriteFile(file.path+".new", []byte(token), 0o600); err != nil {
		return err
	}
	return os.Rename(file.path+".new", file.path)
}

// userConfig returns a configuration with the credentials of a user: the token of a service account
// or a client certificate. "" is the administrator.
func (e *Env) userConfig(user string) (*rest.Config, error) {
	if user == "" {
		return e.Server().RESTConfig(), nil
	}
	if _, _, err := serviceaccount.SplitUsername(user); err != nil {
		return e.Server().RESTConfigWithCertificate(user)
	}
	if e.tokens.byUser[user] == nil {
		if err := e.issueToken(user); err != nil {
			return nil, err
		}
	}
	file := e.tokens.byUser[user]
	config := e.Server().RESTConfigWithToken(file.token)
	config.BearerTokenFile = file.path
	return config, nil
}

// issueToken writes a new token of a service account, by the name of its user, to the file of its
// clients.
func (e *Env) issueToken(user string) error {
	namespace, name, err := serviceaccount.SplitUsername(user)
	if err != nil {
		return err
	}
	config, err := e.Server().RESTConfigForServiceAccount(namespace, name)
	if err != nil {
		return err
	}
	return e.tokens.write(user, config.BearerToken)
}

// ExpireToken expires a bearer token that an option of the server has added, or, for the user name
// of a service account, the token of its clients that [RunClientAs] runs. Requests with it are
// answered 401 from then on. Watches that were started with it continue.
func ExpireToken(value string) Step { return expireToken{value} }

type expireToken struct{ value string }

func (kinds) ExpireToken() stepKind {
	return stepKind{"expire token TOKEN", parseExpireToken}
}

func parseExpireToken(a *args) (Step, error) {
	value, err := parseName(a, "a token")
	return expireToken{value}, err
}

func (s expireToken) String() string { return "expire token " + quote(s.value) }

func (s expireToken) Run(_ context.Context, e *Env) error {
	value := s.value
	if file := e.tokens.byUser[value]; file != nil {
		value = file.token
	}
	return e.Server().ExpireToken(value)
}

// RotateToken issues a new token for a service account, by the name of its user, and writes it to
// the file that its clients have, as a kubelet does for the Pods of the account. The previous token
// stays valid, unless [ExpireToken] has expired it. client-go reads the file once a minute.
func RotateToken(user string) Step { return rotateToken{user} }

type rotateToken struct{ user string }

func (kinds) RotateToken() stepKind {
	return stepKind{"rotate token USER", parseRotateToken}
}

func parseRotateToken(a *args) (Step, error) {
	user, err := parseName(a, "the user of a service account")
	return rotateToken{user}, err
}

func (s rotateToken) String() string { return "rotate token " + quote(s.user) }

func (s rotateToken) Run(_ context.Context, e *Env) error {
	if e.tokens.byUser[s.user] == nil {
		return errors.New("no client runs as the service account " + quote(s.user))
	}
	return e.issueToken(s.user)
}
