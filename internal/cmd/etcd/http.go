//go:build unix

package etcd

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/internal/cmd/controlplane"
	"example.com/fakeapi/internal/originguard"
)

// newClientServer returns the server of the client URLs. socket is where kube-apiserver connects.
func newClientServer(flags *Flags, socket string) (*http.Server, error) {
	server := &http.Server{
		Handler:           withGRPC(newClientHandler(socket)),
		Protocols:         new(http.Protocols),
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true) // for gRPC
	for _, u := range slices.Concat(flags.ListenClientURLs, flags.ListenClientHTTPURLs, flags.ListenMetricsURLs) {
		if u.Scheme == "https" {
			var err error
			server.TLSConfig, err = flags.clientTLS()
			return server, err
		}
	}
	return server, nil
}

// newClientHandler returns the handler of the client URLs.
func newClientHandler(socket string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]string{"health": "true", "reason": ""})
	})
	for _, path := range []string{"/livez", "/readyz"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	}
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]string{"etcdserver": releaseVersion, "etcdcluster": "3.6.0", "storage": "3.6.0"})
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = fmt.Fprintf(w, metrics, releaseVersion)
	})
	mux.HandleFunc("GET "+controlplane.Path, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, controlplane.Address{Protocol: controlplane.Protocol, Socket: socket, Version: releaseVersion})
	})
	return mux
}

// metrics has a line for each metric that health checks of etcd read. Its argument is the version.
const metrics = `# HELP etcd_server_has_leader Whether or not a leader exists. 1 is existence, 0 is not.
# TYPE etcd_server_has_leader gauge
etcd_server_has_leader 1
# HELP etcd_server_is_leader Whether or not this member is a leader. 1 if is, 0 otherwise.
# TYPE etcd_server_is_leader gauge
etcd_server_is_leader 1
# HELP etcd_server_version Which version is running. 1 for 'server_version' label with current version.
# TYPE etcd_server_version gauge
etcd_server_version{server_version=%q} 1
`

func writeJSON(w http.ResponseWriter, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// The status of a gRPC call that is not implemented.
const (
	grpcUnimplemented = "12"
	grpcMessage       = "this etcd keeps the objects of kube-apiserver of fakeapi in memory and does not implement the etcd API"
)

// withGRPC responds to gRPC calls with UNIMPLEMENTED, and rejects requests of web pages.
func withGRPC(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := originguard.CheckHost(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Grpc-Status", grpcUnimplemented)
			w.Header().Set("Grpc-Message", grpcMessage)
			return
		}
		next.ServeHTTP(w, r)
	})
}
