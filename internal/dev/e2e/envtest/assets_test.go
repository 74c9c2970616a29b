// Package envtest_test runs the envtest of controller-runtime, unmodified, with the folder that
// fakeapi envtest-assets makes.
package envtest_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/fakeapi/internal/dev/e2e/internal/ports"
)

// waitTimeout and waitInterval are for conditions. The machine may be busy.
const (
	waitTimeout  = 2 * time.Minute
	waitInterval = 5 * time.Millisecond
)

// suiteVariable makes the test binary a suite that starts an environment and waits.
const suiteVariable = "ENVTEST_TEST_SUITE"

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	if os.Getenv(suiteVariable) != "" {
		runSuite()
		return
	}
	status, err := runWithAssets(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// runWithAssets builds the program and runs the tests with its assets.
func runWithAssets(m *testing.M) (status int, err error) {
	folder, err := os.MkdirTemp("", "fakeapi-e2e-envtest-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binary := filepath.Join(folder, "fakeapi")
	if out, err := exec.Command("go", "run", "-exec", "cp", "example.com/fakeapi/cmd/fakeapi", binary).CombinedOutput(); err != nil {
		return 1, fmt.Errorf("%w: %s", err, out)
	}
	assets, err := exec.Command(binary, "envtest-assets", filepath.Join(folder, "assets"), "-p", "path").Output()
	if err != nil {
		return 1, err
	}
	for name, value := range map[string]string{
		"KUBEBUILDER_ASSETS":                     string(assets),
		"KUBEBUILDER_CONTROLPLANE_START_TIMEOUT": waitTimeout.String(),
		"KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT":  waitTimeout.String(),
	} {
		if err := os.Setenv(name, value); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// startEnvironment chooses the ports of an environment and starts it. The end of the test stops it.
func startEnvironment(t *testing.T, e *envtest.Environment) kubernetes.Interface {
	t.Helper()
	ports.Choose(t, e)
	return startWithPorts(t, e)
}

// startWithPorts starts an environment, which the end of the test stops.
func startWithPorts(t *testing.T, e *envtest.Environment) kubernetes.Interface {
	t.Helper()
	config, err := e.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop()) })
	return kubernetes.NewForConfigOrDie(config)
}

func createConfigMap(t *testing.T, client kubernetes.Interface, name string) *corev1.ConfigMap {
	t.Helper()
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return created
}

// Users have the permissions of their groups and roles, as with the default authorization of
// envtest.
func TestUsers(t *testing.T) {
	e := &envtest.Environment{}
	startEnvironment(t, e)
	for group, forbidden := range map[string]bool{"developers": true, "system:masters": false} {
		user, err := e.AddUser(envtest.User{Name: "ann", Groups: []string{group}}, &rest.Config{})
		require.NoError(t, err)
		_, err = kubernetes.NewForConfigOrDie(user.Config()).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.Equal(t, forbidden, apierrors.IsForbidden(err), "%v", err)
	}
	user, err := e.AddUser(envtest.User{Name: "kate", Groups: []string{"system:masters"}}, nil)
	require.NoError(t, err)
	kubectl, err := user.Kubectl()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), kubectl.Path)
}

// The API server finds the objects of an earlier one on the same etcd, with their resourceVersions.
// It stops in seconds, although a watch is open for an hour.
func TestRestart(t *testing.T) {
	e := &envtest.Environment{}
	e.ControlPlane.GetAPIServer().CertDir = t.TempDir()
	client := startEnvironment(t, e)
	created := createConfigMap(t, client, "a")
	// On a busy machine, a process may take long to end that does not wait for the watch.
	fastest := waitTimeout
	for attempt := 0; attempt < 5 && fastest >= 5*time.Second; attempt++ {
		watch, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: new(int64(3600))})
		require.NoError(t, err)
		defer watch.Stop()
		began := time.Now()
		require.NoError(t, e.ControlPlane.APIServer.Stop())
		fastest = min(fastest, time.Since(began))
		require.Error(t, client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error())
		require.NoError(t, e.ControlPlane.APIServer.Start())
	}
	require.Less(t, fastest, 5*time.Second, "with an open watch")
	read, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, created, read)
	require.Greater(t, createConfigMap(t, client, "b").ResourceVersion, created.ResourceVersion)
}

// Environments in one process and in several do not share objects.
func TestSideBySide(t *testing.T) {
	environments := make([]*envtest.Environment, 20)
	for i := range environments {
		environments[i] = &envtest.Environment{}
	}
	ports.Choose(t, environments...)
	for i, e := range environments {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			client := startWithPorts(t, e)
			createConfigMap(t, client, "a")
		})
	}
}

// runSuite starts an environment whose processes write to stdout, and waits for a signal.
func runSuite() {
	e := &envtest.Environment{}
	e.ControlPlane.GetAPIServer().Out, e.ControlPlane.GetAPIServer().Err = os.Stdout, os.Stderr
	e.ControlPlane.Etcd = &envtest.Etcd{Out: os.Stdout, Err: os.Stderr}
	config, err := e.Start()
	fmt.Println(config.Host, err)
	<-context.Background().Done()
}

// Both processes end with the suite that started them, also if it is killed.
func TestKilledSuite(t *testing.T) {
	for _, when := range []string{"running", "starting"} {
		suite := exec.CommandContext(t.Context(), os.Args[0])
		suite.Env = append(os.Environ(), suiteVariable+"=1", "TMPDIR="+t.TempDir())
		r, w, err := os.Pipe()
		require.NoError(t, err)
		suite.Stdout, suite.Stderr = w, w
		require.NoError(t, suite.Start())
		require.NoError(t, w.Close())
		output := &strings.Builder{}
		if when == "running" {
			require.NoError(t, readUntil(r, output, "https://"))
		} else {
			require.NoError(t, readUntil(r, output, "Listening for clients"))
		}
		require.NoError(t, suite.Process.Kill())
		require.Error(t, suite.Wait())
		// The processes have the other end of the pipe until they end.
		_, err = io.Copy(output, r)
		require.NoError(t, err, output)
		require.NoError(t, r.Close())
	}
}

// readUntil reads from r into output until it contains text.
func readUntil(r io.Reader, output *strings.Builder, text string) error {
	one := make([]byte, 1)
	for !strings.Contains(output.String(), text) {
		if _, err := r.Read(one); err != nil {
			return fmt.Errorf("%w before %q: %s", err, text, output)
		}
		output.Write(one)
	}
	return nil
}
