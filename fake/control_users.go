package fakeapi

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/rest"
)

// expiresInParam returns the duration of the parameter expiresIn, or 0 without it.
func expiresInParam(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("expiresIn")
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		return 0, apierrors.NewBadRequest("expiresIn " + text + " is not positive")
	} else if err != nil {
		return 0, apierrors.NewBadRequest("expiresIn: " + err.Error())
	}
	return d, nil
}

// readUser returns the fields of the body, which commas separate, such as USER,GROUP,..., and the
// duration of the parameter expiresIn, or 0 without it.
func readUser(w http.ResponseWriter, r *http.Request) (fields []string, lifetime time.Duration, err error) {
	body, err := readControlBody(w, r)
	if err != nil {
		return nil, 0, err
	}
	lifetime, err = expiresInParam(r)
	return strings.Split(strings.TrimSpace(body), ","), lifetime, err
}

// addToken adds the token of the body: VALUE,USER,GROUP,...
func (c *controlAPI) addToken(w http.ResponseWriter, r *http.Request) error {
	fields, lifetime, err := readUser(w, r)
	if err != nil {
		return err
	}
	if len(fields) < 2 {
		return apierrors.NewBadRequest("the body is not of the form TOKEN,USER,GROUP,..., where groups can be left out")
	}
	token := Token{Value: fields[0], User: fields[1], Groups: fields[2:], ExpiresIn: lifetime}
	if err := c.server.AddToken(token); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return writeNoContent(w)
}

// expireToken expires the token of the body.
func (c *controlAPI) expireToken(w http.ResponseWriter, r *http.Request) error {
	body, err := readControlBody(w, r)
	if err != nil {
		return err
	}
	if err := c.server.ExpireToken(strings.TrimSpace(body)); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return writeNoContent(w)
}

// issueCertificate responds with a client certificate, followed by its key, for the user of the
// body: USER,GROUP,...
func (c *controlAPI) issueCertificate(w http.ResponseWriter, r *http.Request) error {
	fields, lifetime, err := readUser(w, r)
	if err != nil {
		return err
	}
	cert, key, err := c.server.IssueClientCertificate(lifetime, fields[0], fields[1:]...)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return sendText(w, http.StatusCreated, "application/x-pem-file", string(cert)+string(key))
}

// issueKubeconfig responds with a kubeconfig for the user of the body: USER,GROUP,..., with a
// client certificate, or with a token for system:serviceaccount:NAMESPACE:NAME.
func (c *controlAPI) issueKubeconfig(w http.ResponseWriter, r *http.Request) error {
	fields, lifetime, err := readUser(w, r)
	if err != nil {
		return err
	}
	config, err := c.server.restConfigFor(lifetime, fields[0], fields[1:]...)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	file, err := c.server.KubeconfigFor(config)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return sendText(w, http.StatusCreated, runtime.ContentTypeYAML, string(file))
}

// restConfigFor returns a configuration with new credentials of a user in groups. They are valid
// for lifetime, or with 0 for ten years.
func (s *Server) restConfigFor(lifetime time.Duration, user string, groups ...string) (*rest.Config, error) {
	namespace, name, err := serviceaccount.SplitUsername(user)
	switch {
	case err != nil && strings.HasPrefix(user, serviceaccount.ServiceAccountUsernamePrefix):
		return nil, fmt.Errorf("fakeapi: %q is not of the form system:serviceaccount:NAMESPACE:NAME", user)
	case err != nil:
		return s.restConfigWithCertificate(lifetime, user, groups...)
	case len(groups) > 0:
		return nil, fmt.Errorf("fakeapi: the groups of %s follow from its name", user)
	}
	return s.restConfigForServiceAccount(lifetime, namespace, name)
}
