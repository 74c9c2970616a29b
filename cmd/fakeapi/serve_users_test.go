package main

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const robotManifest = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: robot, namespace: default}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: robot, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: robot}
subjects:
- {kind: ServiceAccount, name: robot, namespace: default}
`

// With RBAC the kubeconfig is that of the administrator, who gets the kubeconfigs of other users
// from the control API.
func TestServeAuthorizationMode(t *testing.T) {
	r := start(t, "--authorization-mode", "RBAC", "--load", manifest(t, "robot.yaml", robotManifest))
	require.Regexp(t, "^https://", r.url)
	list := func(config *rest.Config, namespace string) error {
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		return err
	}
	admin := r.config(t)
	require.NoError(t, list(admin, ""))
	text, err := kubernetes.NewForConfigOrDie(admin).RESTClient().Post().AbsPath("/fakeapi/v1/kubeconfigs").
		Body([]byte("system:serviceaccount:default:robot")).DoRaw(t.Context())
	require.NoError(t, err)
	robot, err := clientcmd.RESTConfigFromKubeConfig(text)
	require.NoError(t, err)
	require.NoError(t, list(robot, "default"))
	require.EqualError(t, list(robot, ""), `pods is forbidden: User "system:serviceaccount:default:robot" cannot list resource "pods" in API group "" at the cluster scope`)
	admin.CertData, admin.KeyData = nil, nil
	require.EqualError(t, list(admin, "default"), `pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"`)
	require.Equal(t, cleanExit, r.stop())
}

// The flag may be repeated, as that of kube-apiserver. With AlwaysAllow there is no anonymous user.
func TestServeAuthorizationModes(t *testing.T) {
	r := start(t, "--authorization-mode=AlwaysDeny", "--authorization-mode=RBAC,AlwaysAllow", "--token", "one,ann")
	config := r.config(t)
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	config.BearerToken = ""
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	require.Equal(t, cleanExit, r.stop())

	r = start(t, "--authorization-mode=AlwaysAllow")
	require.Regexp(t, "^http://", r.url)
	require.Equal(t, http.StatusOK, r.get(t, "/api/v1/pods", nil))
	code, _, text := r.request(t, http.MethodPost, "/fakeapi/v1/kubeconfigs", "application/json", "ann")
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, text, "does not authenticate client certificates")
	require.Equal(t, cleanExit, r.stop())

	for args, want := range map[string]string{
		"--authorization-mode=ABAC,RBAC": `invalid value "ABAC,RBAC" for flag -authorization-mode: "ABAC" is not one of the modes [AlwaysAllow AlwaysDeny Node RBAC]`,
		"--authorization-mode=":          `invalid value "" for flag -authorization-mode: "" is not one of the modes [AlwaysAllow AlwaysDeny Node RBAC]`,
		"--authorization-mode=RBAC,RBAC": `invalid value "RBAC,RBAC" for flag -authorization-mode: the mode RBAC is specified more than once`,
	} {
		got := runCommand(t, "serve", args)
		require.Equal(t, result{exitUsage, "", "fakeapi: serve: " + want + "; see fakeapi help serve\n"}, got)
	}
	_, err = os.Stat(r.kubeconfig)
	require.ErrorIs(t, err, os.ErrNotExist)
}
