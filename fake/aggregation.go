package fakeapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"example.com/fakeapi/fake/internal/aggregator"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/discovery"
	"example.com/fakeapi/fake/internal/openapi"
	"example.com/fakeapi/internal/requestinfo"
)

// setUpAggregator creates the aggregator. Replicas share it.
func (s *Server) setUpAggregator() {
	network := s.webhookNetwork()
	network.Intercept = nil // fault rules apply to the requests of clients
	s.aggregator = aggregator.New(s.store, s.api, network)
}

// startAggregator checks the availability of aggregated APIs until ctx ends.
func (s *Server) startAggregator(ctx context.Context) {
	s.aggregatorDone = make(chan struct{})
	go func() {
		defer close(s.aggregatorDone)
		s.aggregator.Run(ctx)
	}()
}

// remoteAPIService returns the APIService of another API server that has the group and version of a
// path, or nil.
func (s *Server) remoteAPIService(info *requestinfo.RequestInfo) *aggregator.APIService {
	if info.Version == "" || (info.Prefix == "apis") != (info.Group != "") {
		return nil
	}
	return s.aggregator.Find(info.Group, info.Version)
}

// forward serves a request by another API server.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, service *aggregator.APIService) {
	s.aggregator.Serve(w, r, service, authn.NewInfo(authn.UserFrom(r.Context())))
}

// discoveryDocument returns the discovery document at a path, with the groups and versions of other
// servers.
func (s *Server) discoveryDocument(r *http.Request, aggregated bool) (doc discovery.Document, ok bool) {
	path := strings.TrimRight(r.URL.Path, "/")
	doc, ok = s.discovery.Get(path, aggregated)
	if group, isBelow := strings.CutPrefix(path, "/apis/"); path == "/apis" || isBelow && !strings.Contains(group, "/") {
		remote := s.aggregator.Versions(r.Context(), aggregated)
		if !ok {
			return discovery.NewRemoteGroup(group, remote)
		}
		doc = doc.WithRemote(remote)
	}
	return doc, ok
}

// openAPIIndex returns the index of v3 documents, with those of other servers.
func (s *Server) openAPIIndex(r *http.Request, documents *openapi.Documents) []byte {
	if remote := s.aggregator.OpenAPIV3(r.Context()); len(remote) > 0 {
		return documents.V3IndexWith(remote)
	}
	return documents.V3Index()
}

// openAPIV2 returns the v2 document, with the parts of other servers. Parts that cannot be merged
// are left out.
func (s *Server) openAPIV2(r *http.Request, documents *openapi.Documents) *openapi.Document {
	parts := s.aggregator.OpenAPIV2(r.Context())
	if len(parts) == 0 {
		return documents.V2()
	}
	t := &s.openAPI
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mergedOf == documents && slices.Equal(t.parts, parts) {
		return t.merged
	}
	doc, err := documents.V2With(parts)
	if err != nil {
		return documents.V2()
	}
	t.mergedOf, t.parts, t.merged = documents, parts, doc
	return doc
}
