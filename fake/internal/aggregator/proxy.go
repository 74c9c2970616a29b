package aggregator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/transport"
)

// discoveryTimeout is the time limit of a request for a discovery document.
const discoveryTimeout = 5 * time.Second

// Serve forwards a request of a user to the server of an APIService. Errors are text, as those of a
// real server.
func (a *Aggregator) Serve(w http.ResponseWriter, r *http.Request, s *APIService, u user.Info) {
	if !s.IsAvailable() {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	b, err := a.backend(&s.Spec)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	ref := s.Spec.Service
	host, err := a.transport.ServiceAddress(ref.Namespace, ref.Name, *ref.Port)
	if err != nil {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	if isDiscoveryPath(r.URL.Path) {
		ctx, cancel := context.WithTimeout(r.Context(), discoveryTimeout)
		defer cancel()
		r = r.WithContext(ctx)
	}
	isUpgrade := isUpgradeRequest(r)
	reverse := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL = &url.URL{Scheme: "https", Host: host, Path: p.In.URL.Path, RawQuery: p.In.URL.Query().Encode()}
			for _, name := range []string{"X-Forwarded-For", "Forwarded"} {
				p.Out.Header[name] = p.In.Header[name]
			}
			p.SetXForwarded()
			p.Out.Header.Set("X-Forwarded-Host", host)
			p.Out.Header.Set("X-Forwarded-Proto", "https")
			p.Out.Header.Set("X-Forwarded-Uri", forwardedURI(p.Out.URL))
			p.Out.Header.Set("Audit-Id", w.Header().Get("Audit-Id"))
			p.Out.Host = host
			removeCredentials(p.Out.Header)
			transport.SetAuthProxyHeaders(p.Out, u.GetName(), u.GetUID(), u.GetGroups(), u.GetExtra())
		},
		Transport:      b.http,
		FlushInterval:  -1,
		ErrorLog:       log.New(io.Discard, "", 0),
		ModifyResponse: modifyResponse,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			switch {
			case !isUpgrade:
				err = fmt.Errorf("error trying to reach service: %w", err)
			case errors.Is(err, io.EOF):
				err = io.ErrUnexpectedEOF
			}
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
	}
	if isUpgrade {
		reverse.Transport = b.upgrade
		reverse.ModifyResponse = func(response *http.Response) error { return checkUpgrade(w, response) }
	}
	reverse.ServeHTTP(w, r)
}

// isDiscoveryPath reports whether a path is that of a group and version.
func isDiscoveryPath(path string) bool {
	return strings.Count(strings.Trim(path, "/"), "/") == 2
}

// isUpgradeRequest reports whether a request asks for an upgrade of the connection.
func isUpgradeRequest(r *http.Request) bool {
	return slices.ContainsFunc(r.Header["Connection"], func(value string) bool {
		return strings.Contains(strings.ToLower(value), "upgrade")
	})
}

// forwardedURI returns the path of a request for the header X-Forwarded-Uri.
func forwardedURI(u *url.URL) string {
	uri := path.Join(u.EscapedPath())
	if strings.HasSuffix(u.Path, "/") && uri != "/" {
		uri += "/"
	}
	return uri
}

// removeCredentials removes the headers of authentication and impersonation, which were read
// before.
func removeCredentials(h http.Header) {
	h.Del("Authorization")
	for name := range h {
		if strings.HasPrefix(name, "Impersonate-") {
			h.Del(name)
		}
	}
}

// checkUpgrade returns an error for a response to an upgrade request that is neither an upgrade nor
// an error. Others are sent to w without the headers of this server.
func checkUpgrade(w http.ResponseWriter, response *http.Response) error {
	if response.StatusCode != http.StatusSwitchingProtocols && response.StatusCode < http.StatusBadRequest {
		return fmt.Errorf("invalid upgrade response: status code %d", response.StatusCode)
	}
	clear(w.Header())
	return nil
}

// modifyResponse rejects redirects, and removes the headers that allow a browser the use of the
// other server.
func modifyResponse(response *http.Response) error {
	for _, name := range []string{
		"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
		"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
	} {
		response.Header.Del(name)
	}
	if response.StatusCode < 300 || response.StatusCode > 399 || response.Header.Get("Location") == "" {
		return nil
	}
	if err := response.Body.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	const text = "the backend attempted to redirect this request, which is not permitted"
	response.StatusCode, response.Header = http.StatusBadGateway, http.Header{}
	response.Body, response.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	return nil
}

// aggregatorUser is the user of requests of the aggregator itself.
func aggregatorUser() user.Info {
	return &user.DefaultInfo{Name: "system:kube-aggregator", Groups: []string{user.SystemPrivilegedGroup}}
}
