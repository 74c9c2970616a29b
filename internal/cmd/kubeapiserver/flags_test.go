package kubeapiserver

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// envtestArguments are those that the envtest of controller-runtime passes.
func envtestArguments(more ...string) []string {
	return append([]string{
		"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--cert-dir=certs",
		"--client-ca-file=certs/client-cert-auth-ca.crt", "--disable-admission-plugins=ServiceAccount",
		"--etcd-servers=http://127.0.0.1:2379", "--secure-port=6443", "--service-account-issuer=https://127.0.0.1:6443/",
		"--service-account-key-file=certs/sa-signer.crt", "--service-account-signing-key-file=certs/sa-signer.key",
		"--service-cluster-ip-range=10.0.0.0/24",
	}, more...)
}

// report returns the exit status and the output for an error of Parse.
func report(err error) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = reportUsage(err, &out, &errOut)
	return status, out.String(), errOut.String()
}

func TestParseEnvtest(t *testing.T) {
	f, err := Parse(envtestArguments("--advertise-address=127.0.0.1"))
	require.NoError(t, err)
	require.Equal(t, []string{"http://127.0.0.1:2379"}, f.EtcdServers)
	require.Equal(t, "127.0.0.1", f.BindAddress.String())
	require.Equal(t, 6443, f.SecurePort)
	require.Equal(t, "certs", f.CertDir)
	require.Equal(t, "127.0.0.1", f.AdvertiseAddress.String())
	require.Equal(t, []string{"--allow-privileged"}, f.withoutEffect())
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct {
		args   []string
		stderr string
	}{
		{envtestArguments("--insecure-port=0"), "Error: unknown flag: --insecure-port\n"},
		{envtestArguments("-x"), "Error: unknown shorthand flag: 'x' in -x\n"},
		{envtestArguments("serve"), "Error: \"kube-apiserver\" does not take any arguments, got [\"serve\"]\n"},
		{envtestArguments("--secure-port"), "Error: flag needs an argument: --secure-port\n"},
		{envtestArguments("--secure-port=a"), "Error: invalid argument \"a\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"a\": invalid syntax\n"},
	} {
		_, err := Parse(test.args)
		status, stdout, stderr := report(err)
		require.Equal(t, 1, status)
		require.Equal(t, test.stderr, stderr)
		require.Empty(t, stdout)
	}
}

func TestValidationIsLogged(t *testing.T) {
	_, err := Parse(envtestArguments("--secure-port=0", "--goaway-chance=1"))
	status, stdout, stderr := report(err)
	require.Equal(t, 1, status)
	require.Empty(t, stdout)
	require.Regexp(t, `^E\d{4} .*\] "command failed" err="\[--goaway-chance can not be less than 0 or greater than 0\.02, --secure-port 0 must be between 1 and 65535, inclusive\. It cannot be turned off with 0\]"\n$`, stderr)
}

func TestHelpAndVersion(t *testing.T) {
	for _, flag := range []string{"--help", "-h"} {
		_, err := Parse([]string{flag, "further arguments are not looked at"})
		status, stdout, stderr := report(err)
		require.Equal(t, 0, status)
		require.Regexp(t, `(?m)^\s*--etcd-servers\b`, stdout, "controller-runtime looks for flags in this way")
		require.NotRegexp(t, `(?m)^\s*--insecure-port\b`, stdout)
		require.Empty(t, stderr)
	}
	_, err := Parse([]string{"--version"})
	status, stdout, _ := report(err)
	require.Equal(t, 0, status)
	require.Equal(t, "Kubernetes v1.37.2\n", stdout)
	_, err = Parse([]string{"--version=raw"})
	_, stdout, _ = report(err)
	require.Regexp(t, `^version\.Info\{Major:"1", Minor:"37", .*GitVersion:"v1\.37\.2", .*\}\n$`, stdout)
}
