package fakeapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/httpdiff"
)

// auditExchange is a request, with the events that the filter of k8s.io/apiserver v0.37 logged for
// it. The feature ConstrainedImpersonation was disabled on the recorded server.
type auditExchange struct {
	Name, Method, Path string
	Header             map[string]string
	Body               string
	// Setup is true for a request whose events are not compared.
	Setup  bool
	Events []map[string]any
}

// recordedAuthorizer is the authorizer of the recorded server.
func recordedAuthorizer(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch {
	case a.GetUser().GetName() != "bob":
		return authorizer.DecisionAllow, "", nil
	case a.GetVerb() == "delete":
		return authorizer.DecisionDeny, "bob deletes nothing", nil
	case a.GetResource() == "secrets":
		return authorizer.DecisionNoOpinion, "", errors.New("authorizer is down")
	}
	return authorizer.DecisionAllow, "allowed by test", nil
}

// auditEvents decodes an audit log.
func auditEvents(t *testing.T, log string) (events []map[string]any) {
	t.Helper()
	for line := range strings.Lines(log) {
		event := map[string]any{}
		require.NoError(t, httpdiff.Decode([]byte(line), &event), line)
		require.Equal(t, "Event", event["kind"])
		require.Equal(t, "audit.k8s.io/v1", event["apiVersion"])
		events = append(events, event)
	}
	return events
}

// comparableEvents returns events without what differs between two servers.
func comparableEvents(events []map[string]any) (compared []any) {
	normalizer := httpdiff.NewNormalizer()
	for _, event := range events {
		for _, key := range []string{"kind", "apiVersion", "level", "authenticationMetadata", "sourceIPs"} {
			delete(event, key)
		}
		annotations, _ := event["annotations"].(map[string]any)
		for key := range annotations {
			if strings.HasPrefix(key, "apiserver.latency.k8s.io/") && !strings.HasSuffix(key, "/total") {
				delete(annotations, key)
			} else if strings.HasSuffix(key, "/total") {
				annotations[key] = "a duration"
			}
		}
		object, _ := event["responseObject"].(map[string]any)
		switch object["kind"] {
		case "APIVersions", "APIGroupList", "APIGroupDiscoveryList", "APIResourceList": // they list the types of the server
			event["responseObject"] = object["kind"]
		case "Table":
			object["columnDefinitions"] = []any{} // the recorded server had no printers
			for _, row := range object["rows"].([]any) {
				row.(map[string]any)["cells"] = []any{}
			}
		}
		compared = append(compared, normalizer.Value(event))
	}
	return compared
}

// The audit log has the events that kube-apiserver logs for the same requests.
func TestAuditLogAsRecorded(t *testing.T) {
	var exchanges []auditExchange
	require.NoError(t, httpdiff.Decode([]byte(readFile(t, "testdata/audit.json")), &exchanges))
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(recordedAuthorizer)),
			fakeapi.WithTokens(
				fakeapi.Token{Value: "admin", User: "system:admin", Groups: []string{"system:masters"}},
				fakeapi.Token{Value: "bob", User: "bob", Groups: []string{"dev"}},
			),
			fakeapi.WithAuditLog(&auditv1.Policy{Rules: []auditv1.PolicyRule{{Level: auditv1.LevelRequestResponse}}}, &log),
		)
		for i, x := range exchanges {
			request, err := http.NewRequestWithContext(t.Context(), x.Method, srv.URL()+x.Path, strings.NewReader(x.Body))
			require.NoError(t, err)
			request.Header.Set("User-Agent", "test")
			request.Header.Set("Audit-Id", fmt.Sprint(i))
			for key, value := range x.Header {
				request.Header.Set(key, value)
			}
			response, err := transportWithoutToken(srv).RoundTrip(request)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, fmt.Sprint(i), response.Header.Get("Audit-Id"))
			synctest.Wait() // for the handler to end
			logged := auditEvents(t, log.String())
			log.Reset()
			if x.Setup {
				require.Less(t, response.StatusCode, 300, "%s: %s", x.Name, body)
				continue
			}
			if diff := cmp.Diff(comparableEvents(x.Events), comparableEvents(logged)); diff != "" {
				t.Errorf("%s: recorded (-), logged (+):\n%s", x.Name, diff)
			}
		}
	})
}
