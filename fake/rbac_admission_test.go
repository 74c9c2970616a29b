package fakeapi_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// rightsToMaps lets ann, ben and the service account default/robot write ConfigMaps, and ben read
// Secrets, in the namespace default.
const rightsToMaps = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: maps, namespace: default}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: maps, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: maps}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: ben}
- {kind: ServiceAccount, name: robot, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: secrets, namespace: default}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: secrets, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: secrets}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: ben}
`

// createMap creates a ConfigMap as a user, as a dry run.
func createMap(t *testing.T, srv *fakeapi.Server, user string) error {
	t.Helper()
	_, err := impersonatingClient(srv, user).CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap("x"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// The variable authorizer of policies has the rights of the user of the request by RBAC, as they
// are stored, with their reasons. It may ask for the rights of a service account.
func TestPolicyAsksRBAC(t *testing.T) {
	p := startWithPolicies(t, fakeapi.WithRBAC(), fakeapi.WithYAML(rightsToMaps))
	p.create(
		validatingPolicy("p", "configmaps",
			"authorizer.group('').resource('secrets').namespace('default').check('get').allowed()",
			"authorizer.requestResource.check('create').reason().contains('\"maps/default\"') || authorizer.requestResource.check('create').reason() == ''",
			"authorizer.serviceAccount('default', 'robot').group('').resource('configmaps').namespace('default').check('delete').allowed()",
			"!authorizer.serviceAccount('default', 'robot').group('').resource('configmaps').namespace('kube-system').check('delete').allowed()",
			"!authorizer.path('/metrics').check('get').allowed() || 'system:masters' in request.userInfo.groups"),
		validatingBinding("p"))
	require.NoError(t, createMap(t, p.srv, "ben"))
	require.ErrorContains(t, createMap(t, p.srv, "ann"), "failed expression: authorizer.group('').resource('secrets')")
	_, err := p.try()
	require.NoError(t, err, "the administrator may do everything")

	require.NoError(t, p.client.RbacV1().RoleBindings("default").Delete(t.Context(), "secrets", metav1.DeleteOptions{}))
	require.ErrorContains(t, createMap(t, p.srv, "ben"), "failed expression: authorizer.group('').resource('secrets')")
}

// The match conditions of webhooks have the same authorizer.
func TestMatchConditionAsksRBAC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t, fakeapi.WithoutControllers(), fakeapi.WithRBAC(), fakeapi.WithYAML(rightsToMaps))
		fields := `"rules":[` + rule("*", "", "v1", "configmaps") + `],` + condition("!authorizer.group('').resource('secrets').namespace('default').check('get').allowed()")
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", fields)))
		for user, calls := range map[string]int{"ann": 1, "ben": 0} {
			require.NoError(t, createMap(t, srv, user))
			require.Len(t, h.take(), calls, user)
		}
	})
}

// To approve and to sign certificates, and to attest trust bundles, users need the rights on the
// signer, or on all signers of its domain, besides those on the resource.
func TestSignersAskRBAC(t *testing.T) {
	srv, admin := startClient(t, fakeapi.WithRBAC(), fakeapi.WithYAML(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: requests}
rules:
- {apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests/approval, certificatesigningrequests/status, clustertrustbundles], verbs: [create, update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: requests}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: requests}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: signers}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: one}
rules:
- {apiGroups: [certificates.k8s.io], resources: [signers], resourceNames: [example.com/s], verbs: [approve, sign, attest]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: one}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: one}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: one}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: domain}
rules:
- {apiGroups: [certificates.k8s.io], resources: [signers], resourceNames: [example.com/*], verbs: [approve, sign, attest]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: domain}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: domain}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: domain}
`))
	ctx := t.Context()
	for _, signer := range []string{"example.com/s", "example.com/t"} {
		for _, user := range []string{"none", "one", "domain"} {
			client := impersonatingClient(srv, user, "signers")
			requests := client.CertificatesV1().CertificateSigningRequests()
			csr, err := admin.CertificatesV1().CertificateSigningRequests().Create(ctx, newSigningRequest(t, user, signer, "devs"), metav1.CreateOptions{})
			require.NoError(t, err)
			allowed := user == "domain" || user == "one" && signer == "example.com/s"
			check := func(verb string, err error) {
				t.Helper()
				if allowed {
					require.NoError(t, err)
					return
				}
				require.True(t, apierrors.IsForbidden(err), "%v", err)
				require.ErrorContains(t, err, "user not permitted to "+verb)
				require.ErrorContains(t, err, signer)
			}
			approved := csr.DeepCopy()
			approved.Status.Conditions = append(approved.Status.Conditions, csrCondition(certificatesv1.CertificateApproved))
			_, err = requests.UpdateApproval(ctx, user, approved, metav1.UpdateOptions{})
			check("approve", err)
			csr, err = admin.CertificatesV1().CertificateSigningRequests().Get(ctx, user, metav1.GetOptions{})
			require.NoError(t, err)
			csr.Status.Certificate = newCertificate(t)
			_, err = requests.UpdateStatus(ctx, csr, metav1.UpdateOptions{})
			check("sign", err)
			require.NoError(t, admin.CertificatesV1().CertificateSigningRequests().Delete(ctx, user, metav1.DeleteOptions{}))

			_, err = client.CertificatesV1().ClusterTrustBundles().Create(ctx, &certificatesv1.ClusterTrustBundle{
				ObjectMeta: metav1.ObjectMeta{Name: signer[:11] + ":" + signer[12:] + ":" + user},
				Spec:       certificatesv1.ClusterTrustBundleSpec{SignerName: signer, TrustBundle: string(newCA(t).pem)},
			}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			check("attest", err)
		}
	}
}
