package kubeapiserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// certFolder is a folder with the files that envtest creates.
type certFolder struct {
	dir   string
	ca    *x509.Certificate
	caKey *ecdsa.PrivateKey
}

func newCertFolder(t *testing.T) *certFolder {
	t.Helper()
	f := &certFolder{dir: t.TempDir()}
	f.caKey = newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &f.caKey.PublicKey, f.caKey)
	require.NoError(t, err)
	f.ca, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	f.write(t, "ca.crt", encode("CERTIFICATE", der))

	signer := newKey(t)
	public, err := x509.MarshalPKIXPublicKey(&signer.PublicKey)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(signer)
	require.NoError(t, err)
	f.write(t, "sa.pub", encode("PUBLIC KEY", public))
	f.write(t, "sa.key", encode("EC PRIVATE KEY", private))
	return f
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func (f *certFolder) write(t *testing.T, name string, data []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, name), data, 0o600))
}

// client returns a client with a certificate of the folder's authority.
func (f *certFolder) client(t *testing.T, config *rest.Config, user string, groups ...string) *kubernetes.Clientset {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: user, Organization: groups}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, f.ca, &key.PublicKey, f.caKey)
	require.NoError(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	config = anonymousConfig(config)
	config.CertData, config.KeyData = encode("CERTIFICATE", der), encode("EC PRIVATE KEY", keyDER)
	return newClient(t, config)
}

// anonymousConfig returns config without its credentials.
func anonymousConfig(config *rest.Config) *rest.Config {
	config = rest.AnonymousClientConfig(config)
	config.QPS = -1
	return config
}

func newClient(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// arguments returns those of envtest with the files of the folder, and more.
func (f *certFolder) arguments(more ...string) []string {
	return append([]string{
		"--allow-privileged=true", "--bind-address=127.0.0.1", "--cert-dir=.", "--client-ca-file=ca.crt", "--etcd-servers=http://127.0.0.1:2379",
		"--service-account-issuer=https://127.0.0.1:6443/", "--service-account-key-file=sa.pub", "--service-account-signing-key-file=sa.key",
	}, more...)
}

// serve starts a server with the flags, and returns the configuration of its own clients and the
// notes.
func (f *certFolder) serve(t *testing.T, more ...string) (*rest.Config, []string) {
	t.Helper()
	flags, err := Parse(f.arguments(more...))
	require.NoError(t, err)
	opts, notes, err := flags.Options(f.dir)
	require.NoError(t, err)
	server, err := fakeapi.New(opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.NoError(t, flags.Close())
	})
	return server.RESTConfig(), notes
}

// optionsError returns the error of Options, or of the server.
func (f *certFolder) optionsError(t *testing.T, more ...string) error {
	t.Helper()
	flags, err := Parse(f.arguments(more...))
	require.NoError(t, err)
	opts, _, err := flags.Options(f.dir)
	if err != nil {
		return err
	}
	server, err := fakeapi.New(opts...)
	if err == nil {
		require.NoError(t, server.Close())
	}
	return err
}

func TestOptionsOfEnvtest(t *testing.T) {
	folder := newCertFolder(t)
	config, notes := folder.serve(t, "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", "--service-cluster-ip-range=10.0.0.0/24")
	require.Equal(t, []string{"These flags have no effect here: --allow-privileged"}, notes)

	admin := folder.client(t, config, "admin", "system:masters")
	service, err := admin.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "10.0.0.1", service.Spec.ClusterIP)
	_, err = admin.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err, "the plugin ServiceAccount is disabled")

	user := folder.client(t, config, "user")
	_, err = user.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = newClient(t, anonymousConfig(config)).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.ErrorContains(t, err, `User "system:anonymous" cannot list resource "pods"`)

	// No controllers run.
	require.NoError(t, admin.CoreV1().Namespaces().Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}))
	namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), "kube-node-lease", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.NamespaceTerminating, namespace.Status.Phase)
	_, err = admin.CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	require.FileExists(t, filepath.Join(folder.dir, "apiserver.crt"))
	require.FileExists(t, filepath.Join(folder.dir, "apiserver.key"))
}

// The certificate of --cert-dir is created once, and then used.
func TestServingCertificate(t *testing.T) {
	folder := newCertFolder(t)
	folder.serve(t)
	created, err := os.ReadFile(filepath.Join(folder.dir, "apiserver.crt"))
	require.NoError(t, err)
	config, _ := folder.serve(t)
	used, err := os.ReadFile(filepath.Join(folder.dir, "apiserver.crt"))
	require.NoError(t, err)
	require.Equal(t, string(created), string(used))
	require.Equal(t, string(created), string(config.CAData))

	block, _ := pem.Decode(created)
	certificate, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	for _, name := range []string{"127.0.0.1", "10.0.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc"} {
		require.NoError(t, certificate.VerifyHostname(name))
	}

	require.NoError(t, os.Rename(filepath.Join(folder.dir, "apiserver.crt"), filepath.Join(folder.dir, "other.crt")))
	require.NoError(t, os.Rename(filepath.Join(folder.dir, "apiserver.key"), filepath.Join(folder.dir, "other.key")))
	config, _ = folder.serve(t, "--tls-cert-file=other.crt", "--tls-private-key-file=other.key")
	require.Equal(t, string(created), string(config.CAData))
	require.NoFileExists(t, filepath.Join(folder.dir, "apiserver.crt"))
}

func TestServiceAccountFlags(t *testing.T) {
	folder := newCertFolder(t)
	config, _ := folder.serve(t, "--authorization-mode=RBAC", "--api-audiences=audience", "--service-account-max-token-expiration=2h", "--service-account-jwks-uri=https://example.com/jwks")
	admin := folder.client(t, config, "admin", "system:masters")
	_, err := admin.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	seconds := int64(24 * 60 * 60)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	token, err := admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "a", request, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"audience"}, token.Spec.Audiences)
	require.WithinDuration(t, time.Now().Add(2*time.Hour), token.Status.ExpirationTimestamp.Time, time.Minute)

	// The same keys make the token valid for another server.
	other, _ := folder.serve(t, "--authorization-mode=RBAC", "--api-audiences=audience")
	_, err = folder.client(t, other, "admin", "system:masters").AuthenticationV1().TokenReviews().Create(t.Context(),
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}, metav1.CreateOptions{})
	require.NoError(t, err)
	text, err := admin.RESTClient().Get().AbsPath("/.well-known/openid-configuration").DoRaw(t.Context())
	require.NoError(t, err)
	var document map[string]any
	require.NoError(t, json.Unmarshal(text, &document))
	require.Equal(t, "https://127.0.0.1:6443/", document["issuer"])
	require.Equal(t, "https://example.com/jwks", document["jwks_uri"])

	require.EqualError(t, folder.optionsError(t, "--service-account-max-token-expiration=1m"), "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
	require.ErrorContains(t, folder.optionsError(t, "--service-account-key-file=missing"), "error reading public key file missing: open ")
	folder.write(t, "empty", nil)
	require.ErrorContains(t, folder.optionsError(t, "--service-account-signing-key-file=empty"), "failed to parse service-account-issuer-key-file: error parsing private key file empty: ")
}

func TestTokenFile(t *testing.T) {
	folder := newCertFolder(t)
	folder.write(t, "tokens.csv", []byte("secret,user,1,\"system:masters,other\"\n,empty,2\nplain,guest,3\n"))
	config, _ := folder.serve(t, "--token-auth-file=tokens.csv", "--authorization-mode=RBAC")
	config = anonymousConfig(config)
	config.BearerToken = "secret"
	_, err := newClient(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	config.BearerToken = "plain"
	_, err = newClient(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.ErrorContains(t, err, `User "guest" cannot list`)
	config.BearerToken = "unknown"
	_, err = newClient(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)

	folder.write(t, "short.csv", []byte("secret,user\n"))
	require.EqualError(t, folder.optionsError(t, "--token-auth-file=short.csv"), "token file 'short.csv' must have at least 3 columns (token, user name, user uid), found 2")
	folder.write(t, "none.csv", nil)
	require.NoError(t, folder.optionsError(t, "--token-auth-file=none.csv"))
}

func TestRequestHeaders(t *testing.T) {
	folder := newCertFolder(t)
	config, notes := folder.serve(t, "--authorization-mode=RBAC", "--requestheader-client-ca-file=ca.crt", "--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-")
	require.Equal(t, []string{"These flags have no effect here: --allow-privileged"}, notes)
	list := func(proxy string) error {
		client := folder.client(t, config, proxy)
		return client.CoreV1().RESTClient().Get().Resource("pods").Namespace("default").
			SetHeader("X-Remote-User", "user").SetHeader("X-Remote-Group", "system:masters").Do(t.Context()).Error()
	}
	require.NoError(t, list("front-proxy"))
	require.ErrorContains(t, list("other"), `User "other" cannot list`)
	require.ErrorContains(t, folder.optionsError(t, "--requestheader-client-ca-file=missing", "--requestheader-username-headers=X-Remote-User"), `unable to load request header CA file "missing"`)
	require.NoError(t, folder.optionsError(t, "--requestheader-client-ca-file=ca.crt"), "without a header of the name, the authority is not used")
}

func TestAnonymousAuth(t *testing.T) {
	folder := newCertFolder(t)
	folder.write(t, "on.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true}\n"))
	folder.write(t, "off.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\nanonymous: {enabled: false}\n"))
	folder.write(t, "jwt.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: [{issuer: {url: https://example.com}}]\n"))
	folder.write(t, "conditions.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true, conditions: [{path: /livez}]}\n"))
	folder.write(t, "unknown.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nunknown: 1\n"))
	for argument, want := range map[string]int{
		"--anonymous-auth=true": http.StatusOK, "--anonymous-auth=false": http.StatusUnauthorized,
		"--authentication-config=on.yaml": http.StatusOK, "--authentication-config=off.yaml": http.StatusUnauthorized,
	} {
		config, _ := folder.serve(t, argument, "--authorization-mode=RBAC")
		transport, err := rest.HTTPClientFor(anonymousConfig(config))
		require.NoError(t, err)
		response, err := transport.Get(config.Host + "/readyz")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode, argument)
		_, err = folder.client(t, config, "admin", "system:masters").CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
	}
	for file, message := range map[string]string{
		"jwt.yaml": "JWT authenticators are not supported here", "conditions.yaml": "conditions of anonymous requests are not supported here",
		"unknown.yaml": `unknown field "unknown"`, "missing.yaml": "no such file",
	} {
		require.ErrorContains(t, folder.optionsError(t, "--authentication-config="+file), message)
	}
}

func TestAuthorizationFlags(t *testing.T) {
	folder := newCertFolder(t)
	folder.write(t, "config.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: Node, name: node}, {type: RBAC, name: rbac}]\n"))
	folder.write(t, "none.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"))
	folder.write(t, "webhook.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: Webhook, name: w}]\n"))
	folder.write(t, "other.yaml", []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: Other, name: w}]\n"))
	folder.write(t, "policy.json", nil)
	for argument, isAllowed := range map[string]bool{
		"--anonymous-auth=true": true, "--authorization-mode=AlwaysAllow": true, "--authorization-mode=AlwaysDeny": false,
		"--authorization-mode=Node,RBAC": false, "--authorization-config=config.yaml": false,
	} {
		config, _ := folder.serve(t, argument)
		_, err := folder.client(t, config, "user").CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.Equal(t, !isAllowed, apierrors.IsForbidden(err), "%s: %v", argument, err)
	}
	for file, message := range map[string]string{
		"none.yaml": "at least one authorization mode must be defined", "webhook.yaml": "webhooks are not supported here",
		"other.yaml": `authorizers[0].type: Unsupported value: "Other"`, "missing.yaml": "no such file",
	} {
		require.ErrorContains(t, folder.optionsError(t, "--authorization-config="+file), message)
	}
	require.EqualError(t, folder.optionsError(t, "--authorization-mode=ABAC", "--authorization-policy-file=policy.json"), "--authorization-mode=ABAC is not supported here; use RBAC")
}

func TestAuthorizationWebhook(t *testing.T) {
	folder := newCertFolder(t)
	webhook, err := fakeapi.New(fakeapi.WithMiddleware(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			allowed := strings.Contains(string(body), `"user":"friend"`)
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": map[string]any{"allowed": allowed}})
		})
	}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, webhook.Close()) })
	folder.write(t, "kubeconfig", []byte(`{"apiVersion": "v1", "kind": "Config", "current-context": "w", "contexts": [{"name": "w", "context": {"cluster": "w", "user": "w"}}],
		"users": [{"name": "w", "user": {}}], "clusters": [{"name": "w", "cluster": {"server": "`+webhook.URL()+`"}}]}`))
	config, _ := folder.serve(t, "--authorization-mode=Webhook,RBAC", "--authorization-webhook-config-file=kubeconfig", "--authorization-webhook-version=v1")
	_, err = folder.client(t, config, "friend").CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, err = folder.client(t, config, "other").CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, folder.optionsError(t, "--authorization-mode=Webhook", "--authorization-webhook-config-file=missing"), "no such file")
}

func TestAdmissionFlags(t *testing.T) {
	folder := newCertFolder(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:v1", ImagePullPolicy: corev1.PullNever}}}}
	config, notes := folder.serve(t, "--enable-admission-plugins=AlwaysPullImages,EventRateLimit", "--feature-gates=HPAScaleToZero=true,WatchList=false")
	require.Equal(t, []string{"These flags have no effect here: --allow-privileged, --enable-admission-plugins=EventRateLimit, --feature-gates=HPAScaleToZero"}, notes)
	client := folder.client(t, config, "user")
	_, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	require.ErrorContains(t, err, `serviceaccount "default" not found`, "the plugin ServiceAccount is enabled by default")
	_, err = client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	created, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.PullAlways, created.Spec.Containers[0].ImagePullPolicy)

	yes := true
	_, err = client.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
	require.True(t, apierrors.IsInvalid(err), "WatchList is disabled: %v", err)
	for _, name := range fakeapi.AdmissionPlugins() {
		require.Contains(t, admissionPlugins(), name)
	}
}

func TestRuntimeConfig(t *testing.T) {
	folder := newCertFolder(t)
	config, _ := folder.serve(t, "--runtime-config=apps/v1=false,api/legacy=true,v1")
	client := folder.client(t, config, "user")
	_, err := client.AppsV1().Deployments("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.ErrorContains(t, folder.optionsError(t, "--runtime-config=unknown/v1=true"), "unknown")
}

func TestAuditFlags(t *testing.T) {
	folder := newCertFolder(t)
	folder.write(t, "policy.yaml", []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, resources: [{group: '', resources: [configmaps]}]}]\n"))
	config, _ := folder.serve(t, "--audit-policy-file=policy.yaml", "--audit-log-path=logs/audit.log")
	_, err := folder.client(t, config, "user").CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(folder.dir, "logs", "audit.log"))
		return err == nil && strings.Contains(string(text), `"stage":"ResponseComplete"`) && strings.Contains(string(text), `"username":"user"`)
	}, 2*time.Minute, 10*time.Millisecond)

	var stdout bytes.Buffer
	flags, err := Parse(folder.arguments("--audit-policy-file=policy.yaml", "--audit-log-path=-"))
	require.NoError(t, err)
	flags.Stdout = &stdout
	opts, _, err := flags.Options(folder.dir)
	require.NoError(t, err)
	server, err := fakeapi.New(opts...)
	require.NoError(t, err)
	_, err = folder.client(t, server.RESTConfig(), "user").CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.NoError(t, server.Close())
	require.NoError(t, flags.Close())
	require.Contains(t, stdout.String(), `"kind":"Event"`)

	folder.write(t, "invalid.yaml", []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Everything}]\n"))
	folder.write(t, "kind.yaml", []byte("apiVersion: v1\nkind: Pod\n"))
	for file, message := range map[string]string{"invalid.yaml": `Unsupported value: "Everything"`, "kind.yaml": "failed", "missing.yaml": `failed to read file path "missing.yaml"`} {
		require.ErrorContains(t, folder.optionsError(t, "--audit-policy-file="+file, "--audit-log-path=-"), message)
	}
	require.NoError(t, folder.optionsError(t, "--audit-policy-file=missing.yaml"), "without a path nothing is audited")
}

func TestLimits(t *testing.T) {
	parse := func(arguments ...string) *Flags {
		f, err := Parse(append(arguments, requiredArguments...))
		require.NoError(t, err)
		return f
	}
	folder := newCertFolder(t)
	for _, arguments := range [][]string{
		{"--max-requests-inflight=0"}, {"--etcd-compaction-interval=0"}, {"--min-request-timeout=0"}, {"--request-timeout=1m", "--goaway-chance=0.01"}, {"--enable-priority-and-fairness=false"},
		{"--service-node-port-range=30000-30010"}, {"--service-cluster-ip-range=10.1.0.0/24,fd00::/108"},
	} {
		parse(arguments...)
		folder.serve(t, arguments...)
	}
	require.Equal(t, 2*time.Second, (&limitFlags{minRequestTimeout: 2}).watchTimeout())

	config, _ := folder.serve(t, "--service-node-port-range=31000-31000", "--service-cluster-ip-range=fd00::/108,10.1.0.0/24")
	service, err := folder.client(t, config, "user").CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, int32(31000), service.Spec.Ports[0].NodePort)
	require.True(t, strings.HasPrefix(service.Spec.ClusterIP, "fd00::"), service.Spec.ClusterIP)
}

func TestMissingFiles(t *testing.T) {
	folder := newCertFolder(t)
	for argument, message := range map[string]string{
		"--client-ca-file=missing":                   `unable to load client CA file "missing": open `,
		"--token-auth-file=missing":                  "no such file",
		"--service-account-signing-key-file=missing": "failed to parse service-account-issuer-key-file: open ",
		"--tls-cert-file=missing":                    "no such file",
		"--tls-min-version=TLS1.2":                   `unknown tls version "TLS1.2"`,
		"--tls-cipher-suites=NONE":                   "Cipher suite NONE not supported or doesn't exist",
	} {
		require.ErrorContains(t, folder.optionsError(t, argument), message)
	}
	folder.write(t, "large", make([]byte, maxFileBytes+1))
	require.EqualError(t, folder.optionsError(t, "--token-auth-file=large"), "large is larger than 16777216 bytes")
}
