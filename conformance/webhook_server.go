package conformance

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	pathpkg "path"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// webhookServer is the admission webhook of a run: an HTTPS server that keeps the reviews that it
// receives, and answers them as the cases say. It allows what no case asks for.
type webhookServer struct {
	address  string // host and port, as in the configurations
	caBundle []byte
	http     *http.Server

	mu    sync.Mutex               // guards the fields below
	cases map[string]*caseWebhooks // by namespace
}

// caseWebhooks are the webhooks of a case. Their paths begin with its namespace.
type caseWebhooks struct {
	*webhookServer

	mu      sync.Mutex        // guards the fields below
	answers map[string]answer // by path
	ready   map[string]bool   // paths of webhooks that deny probes
	calls   []webhookCall     // in the order of their arrival
}

// answer writes the response to a review.
type answer func(w http.ResponseWriter, r *http.Request, in webhookCall)

// webhookCall is an AdmissionReview that the webhook received. Its body is checked with
// expectations, like that of a response.
type webhookCall struct {
	*response
	path, query string
	decoded     admissionReview
}

// admissionReview has the fields of an AdmissionReview that the webhook itself needs.
type admissionReview struct {
	APIVersion string `json:"apiVersion"`
	Request    struct {
		UID  types.UID `json:"uid"`
		Name string    `json:"name"`
	} `json:"request"`
}

// startWebhookServer serves on a listener, which it closes at the end.
func startWebhookServer(l net.Listener) (*webhookServer, error) {
	host, _, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("the address of the webhook: %w", err)
	}
	certificate, caBundle, err := newServingCertificate(host)
	if err != nil {
		return nil, err
	}
	w := &webhookServer{address: l.Addr().String(), caBundle: caBundle, cases: map[string]*caseWebhooks{}}
	w.http = &http.Server{
		Handler: w, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		Protocols: &http.Protocols{}, // HTTP/1.1, so that a closed connection ends one call
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	w.http.Protocols.SetHTTP1(true)
	go func() { _ = w.http.ServeTLS(l, "", "") }() // ends with close
	return w, nil
}

// newServingCertificate returns a certificate for a host, and the CA bundle that verifies it.
func newServingCertificate(host string) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "conformance webhook"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	caBundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, caBundle, nil
}

// close ends all calls.
func (w *webhookServer) close() { _ = w.http.Close() }

// of returns the webhooks of the case that has a namespace.
func (w *webhookServer) of(namespace string) *caseWebhooks {
	c := &caseWebhooks{webhookServer: w, answers: map[string]answer{}, ready: map[string]bool{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cases[namespace] = c
	return c
}

// at returns the webhooks of the case whose namespace a path begins with, or nil.
func (w *webhookServer) at(path string) *caseWebhooks {
	namespace, _, _ := strings.Cut(strings.TrimPrefix(pathpkg.Clean(path), "/"), "/")
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cases[namespace]
}

// handle sets the answer of a path.
func (w *caseWebhooks) handle(path string, a answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[path] = a
}

// denyProbes makes a path deny probes with the text probeDenied.
func (w *caseWebhooks) denyProbes(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready[path] = true
}

// release allows all further requests, so that the webhooks of a case do not hinder its clean-up,
// and forgets the calls.
func (w *caseWebhooks) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.answers)
	clear(w.ready)
	w.calls = nil
}

// takeCalls returns the calls since the last takeCalls.
func (w *caseWebhooks) takeCalls() []webhookCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

// probeName is the name of the objects that show whether a configuration is effective. Calls about
// them are not kept. probeDenied is the text of the denial that they wait for.
const (
	probeName   = "conformance-probe"
	probeDenied = "the configuration is effective"
)

// ServeHTTP implements http.Handler.
func (w *webhookServer) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	in := webhookCall{
		response: &response{method: r.Method, url: "the call of " + r.URL.String(), header: r.Header, body: body},
		path:     r.URL.Path, query: r.URL.RawQuery,
	}
	if err != nil || json.Unmarshal(body, &in.decoded) != nil {
		http.Error(to, "the body is no AdmissionReview", http.StatusBadRequest)
		return
	}
	if of := w.at(in.path); of != nil {
		of.answerTo(in)(to, r, in)
		return
	}
	allow(to, r, in)
}

// answerTo keeps a call and returns its answer.
func (w *caseWebhooks) answerTo(in webhookCall) answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.answers[in.path]
	switch {
	case in.decoded.Request.Name == probeName && w.ready[in.path]:
		return deny(object{"message": probeDenied})
	case in.decoded.Request.Name == probeName, found == nil:
		return allow
	}
	w.calls = append(w.calls, in)
	return found
}

// respond answers with fields of an AdmissionResponse, which replace the uid and allowed: true.
func respond(fields object) answer {
	return func(w http.ResponseWriter, _ *http.Request, in webhookCall) {
		response := object{"uid": in.decoded.Request.UID, "allowed": true}
		for field, value := range fields {
			response[field] = value
		}
		writeReview(w, object{"apiVersion": in.decoded.APIVersion, "kind": "AdmissionReview", "response": response})
	}
}

// writeReview writes an AdmissionReview, or anything else.
func writeReview(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // the caller may have closed the connection
}

// allow allows the request.
func allow(w http.ResponseWriter, r *http.Request, in webhookCall) { respond(nil)(w, r, in) }

// deny denies the request with a status.
func deny(status object) answer { return respond(object{"allowed": false, "status": status}) }

// patchWith allows the request and changes the object with a JSON patch.
func patchWith(operations ...object) answer {
	patch, err := json.Marshal(operations)
	if err != nil {
		panic(err) // the operations are constants of the suite
	}
	return respond(object{"patchType": "JSONPatch", "patch": patch})
}

// answerText answers with a code and a text, which is said to be JSON if the code is 200.
func answerText(code int, text string) answer {
	return func(w http.ResponseWriter, _ *http.Request, _ webhookCall) {
		if code == http.StatusOK {
			w.Header().Set("Content-Type", "application/json")
		} else {
			w.Header().Set("Content-Type", "text/plain")
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

// closeConnection closes the connection without a response.
func closeConnection(http.ResponseWriter, *http.Request, webhookCall) { panic(http.ErrAbortHandler) }

// never does not answer until the caller closes the connection.
func never(_ http.ResponseWriter, r *http.Request, _ webhookCall) { <-r.Context().Done() }

// inTurn answers each call with the next answer. The last one stays.
func inTurn(answers ...answer) answer {
	var mu sync.Mutex
	next := func() answer {
		mu.Lock()
		defer mu.Unlock()
		first := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return first
	}
	return func(w http.ResponseWriter, r *http.Request, in webhookCall) { next()(w, r, in) }
}
