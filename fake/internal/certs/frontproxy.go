package certs

import (
	"crypto/tls"
	"fmt"
	"sync"
	"time"
)

// FrontProxyUser is the user of the certificate with which a server acts for its users.
const FrontProxyUser = "front-proxy-client"

// FrontProxy is the identity with which a server forwards requests to aggregated API servers. These
// trust the headers with the user of a request if the client certificate is of the authority.
type FrontProxy struct {
	// AuthorityPEM is the certificate of the authority.
	AuthorityPEM []byte
	// Certificate is the client certificate.
	Certificate tls.Certificate
}

// NewFrontProxy returns the identity of all servers of the process. Its certificates do not expire
// within the years that virtual and real time have.
func NewFrontProxy() (FrontProxy, error) { return frontProxy() }

var frontProxy = sync.OnceValues(func() (FrontProxy, error) {
	from := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	a, err := newAuthority("fakeapi-front-proxy-ca", from, from.AddDate(200, 0, 0))
	if err != nil {
		return FrontProxy{}, err
	}
	certificate, err := a.issueFor(FrontProxyUser)
	if err != nil {
		return FrontProxy{}, fmt.Errorf("front proxy: %w", err)
	}
	return FrontProxy{a.PEM(), certificate}, nil
})
