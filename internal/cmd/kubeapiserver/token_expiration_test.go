package kubeapiserver

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tokens of pods are valid for a year, unless a flag says otherwise.
func TestExtendTokenExpirationFlag(t *testing.T) {
	folder := newCertFolder(t)
	for want, args := range map[time.Duration][]string{
		365 * 24 * time.Hour: nil,
		3607 * time.Second:   {"--service-account-extend-token-expiration=false"},
	} {
		config, _ := folder.serve(t, append(args, "--authorization-mode=RBAC")...)
		core, ctx := folder.client(t, config, "admin", "system:masters").CoreV1(), t.Context()
		_, err := core.ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = core.Pods("default").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
			ServiceAccountName: "a", Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}, metav1.CreateOptions{})
		require.NoError(t, err)
		seconds := int64(3607)
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: &seconds, BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "p"},
		}}
		token, err := core.ServiceAccounts("default").CreateToken(ctx, "a", request, metav1.CreateOptions{})
		require.NoError(t, err)
		payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token.Status.Token, ".")[1])
		require.NoError(t, err)
		var claims struct{ Iat, Exp int64 }
		require.NoError(t, json.Unmarshal(payload, &claims))
		require.EqualValues(t, want/time.Second, claims.Exp-claims.Iat)
	}
}
