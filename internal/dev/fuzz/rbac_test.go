package fuzz_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	fakeapi "example.com/fakeapi/fake"
)

// ownRoles is a manifest with roles and bindings that the user ann may change. ann may read pods,
// and has the roles gone, which does not exist, and joined, which has the rules of others.
const ownRoles = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: maker}
rules:
- {apiGroups: [rbac.authorization.k8s.io], resources: ["*"], verbs: [get, list, watch, create, update, patch, delete, deletecollection]}
- {apiGroups: [""], resources: [pods], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: maker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: maker}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: joined}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {join: "true"}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: joined}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: joined}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: big, finalizers: [example.com/keep]}
rules: [{apiGroups: [""], resources: [secrets], verbs: ["*"]}, {nonResourceURLs: [/metrics], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: gone, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: gone}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: big, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: big}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
`

// No request of a user who may write roles and bindings, but neither escalate nor bind, gives
// permissions to the user. The server responds without an internal error.
func FuzzEscalation(f *testing.F) {
	const (
		group        = "/apis/rbac.authorization.k8s.io/v1"
		namespace    = group + "/namespaces/default"
		roleToGone   = `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"gone"}`
		roleToBig    = `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"big"}`
		subjectAnn   = `"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"ann"}]`
		everyRule    = `"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]`
		applyOfBig   = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: big, labels: {join: 'true'}}}"
		applyOfRules = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: gone}, rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]}"
	)
	f.Add("POST", namespace+"/roles", mediaJSON, []byte(`{"metadata":{"name":"gone"},`+everyRule+`}`))
	f.Add("POST", namespace+"/roles", mediaJSON, []byte(`{"metadata":{"name":"gone"},"rules":[{},{"verbs":["*"]},{"apiGroups":[""],"resources":["pods"],"verbs":["get"],"resourceNames":[""]}]}`))
	f.Add("PUT", namespace+"/roles/gone", mediaJSON, []byte(`{"metadata":{"name":"gone"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["list","get"]}]}`))
	f.Add("PUT", group+"/clusterroles/maker", mediaYAML, []byte("{metadata: {name: maker}, rules: [{nonResourceURLs: ['*'], verbs: [get]}]}"))
	f.Add("PATCH", namespace+"/roles/gone?fieldManager=m&force=true", "application/apply-patch+yaml", []byte(applyOfRules))
	f.Add("PATCH", group+"/clusterroles/big?fieldManager=m", "application/apply-patch+yaml", []byte(applyOfBig))
	f.Add("PATCH", group+"/clusterroles/big", "application/merge-patch+json", []byte(`{"metadata":{"labels":{"join":"true"},"finalizers":null}}`))
	f.Add("PATCH", group+"/clusterroles/maker", "application/json-patch+json", []byte(`[{"op":"copy","from":"/rules/1","path":"/rules/0"},{"op":"replace","path":"/rules/0/resources/0","value":"secrets"}]`))
	f.Add("PATCH", group+"/clusterroles/joined", "application/strategic-merge-patch+json", []byte(`{"aggregationRule":{"clusterRoleSelectors":[{}]}}`))
	f.Add("POST", namespace+"/rolebindings", mediaJSON, []byte(`{"metadata":{"generateName":"b"},`+roleToBig+`,`+subjectAnn+`}`))
	f.Add("POST", namespace+"/rolebindings?dryRun=All", mediaJSON, []byte(`{"metadata":{"name":"b"},`+roleToGone+`,`+subjectAnn+`}`))
	f.Add("PATCH", namespace+"/rolebindings/big", "application/merge-patch+json", []byte(`{`+subjectAnn+`}`))
	f.Add("PATCH", namespace+"/rolebindings/gone", "application/merge-patch+json", []byte(`{`+roleToBig+`}`))
	f.Add("POST", group+"/clusterrolebindings", mediaJSON, []byte(`{"metadata":{"name":"b"},"roleRef":{"kind":"Other","name":"big"},`+subjectAnn+`}`))
	f.Add("DELETE", group+"/clusterroles?fieldSelector=metadata.name%3Dbig", "", []byte(nil))
	f.Add("DELETE", namespace+"/rolebindings", mediaJSON, []byte(`{"dryRun":["All"]}`))
	f.Add("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", mediaJSON, []byte(`{"spec":{}}`))
	options := []fakeapi.Option{fakeapi.WithRBAC(), fakeapi.WithTokens(annToken)}
	base, err := fakeapi.New(append(options, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline(), fakeapi.WithYAML(ownRoles))...)
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, base.Close()) })
	f.Fuzz(func(t *testing.T, method, target, contentType string, body []byte) {
		r, err := http.NewRequest(method, "https://server"+target, bytes.NewReader(body))
		if err != nil {
			return // no client can send it
		}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Authorization", "Bearer "+annToken.Value)
		synctest.Test(t, func(t *testing.T) {
			p := newProbe(t, base, options...)
			synctest.Wait()
			held := rulesHeld(p)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
			defer cancel()
			w, before := httptest.NewRecorder(), p.revision()
			p.srv.ServeHTTP(w, r.WithContext(ctx))
			if r.Method != http.MethodHead && w.Header().Get("Content-Type") == mediaJSON && w.Code >= http.StatusBadRequest {
				p.check(r, w, before)
			}
			synctest.Wait()
			covered, more := validation.Covers(held, rulesHeld(p))
			require.True(t, covered, "%s %s: %d, and the user has %v", method, target, w.Code, more)
		})
	})
}

// rulesHeld returns the rules that ann has in the namespace default, by a review of all rules.
func rulesHeld(p probe) []rbacv1.PolicyRule {
	p.t.Helper()
	body := `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview","spec":{"namespace":"default"}}`
	r := httptest.NewRequestWithContext(p.t.Context(), http.MethodPost, "https://server/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", bytes.NewReader([]byte(body)))
	r.Header.Set("Content-Type", mediaJSON)
	r.Header.Set("Authorization", "Bearer "+annToken.Value)
	w := httptest.NewRecorder()
	p.srv.ServeHTTP(w, r)
	require.Equal(p.t, http.StatusCreated, w.Code, "%s", w.Body)
	var review authorizationv1.SelfSubjectRulesReview
	require.NoError(p.t, json.Unmarshal(w.Body.Bytes(), &review))
	var rules []rbacv1.PolicyRule
	for _, r := range review.Status.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	for _, r := range review.Status.NonResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
	}
	return rules
}
