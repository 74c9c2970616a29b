package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// controllerName is the argument with which the test binary is the controller of TestPerturb.
const controllerName = "test-controller"

// runTestController creates a ConfigMap for each one with the label order, and notes its name
// there. If the reply to the create is lost, it creates another one. It never returns.
func runTestController() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx, maps := context.Background(), kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	for ; ; time.Sleep(100 * time.Millisecond) {
		orders, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "order"})
		if err != nil {
			continue
		}
		for _, order := range orders.Items {
			if order.Data["bill"] != "" {
				continue
			}
			bill, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "bill-"}}, metav1.CreateOptions{})
			if err != nil {
				continue
			}
			order.Data = map[string]string{"bill": bill.Name}
			_, _ = maps.Update(ctx, &order, metav1.UpdateOptions{}) // or next time
		}
	}
}

const orderWorkload = `
run biller
create order.yaml
-- order.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: order, labels: {order: new}}
`

// A controller that is another process is killed and started again, and the bug is found.
func TestPerturb(t *testing.T) {
	t.Parallel() // it mostly waits; a process has its own TMPDIR
	temp, folder := t.TempDir(), filepath.Join(t.TempDir(), "findings")
	args := []string{
		"perturb", "--workload", manifest(t, "order.txtar", orderWorkload), "--budget", "4", "--parallel", "4",
		"--pause", "1s", "--settle", "2s", "--recovery", "1m", "--output", folder, "-q", // time for a slow process to start
		"--known", "created configmaps default/bill-* (crash)", "--known", "none", "--", os.Args[0], controllerName,
	}
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append(os.Environ(), "TMPDIR="+temp)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.Output()
	require.Error(t, err)
	require.Equal(t, exitError, command.ProcessState.ExitCode(), stderr.String())
	require.Contains(t, string(stdout), "perturb: created configmaps default/bill-* (crash)\nknown: --known\n")
	require.Contains(t, string(stdout), "the known finding \"none\" was not found\n")
	require.Contains(t, string(stdout), "at hit perturb crash biller\nat hit perturb run biller")
	names, err := filepath.Glob(filepath.Join(folder, "created-configmaps-default-bill-crash.*"))
	require.NoError(t, err)
	require.Len(t, names, 3)
	requireEmptyDir(t, temp)
}

func TestPerturbArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"perturb -- true":                        "fakeapi: perturb: --workload FILE is required; see fakeapi help perturb\n",
		"perturb --workload none -- true":        "fakeapi: open none: no such file or directory\n",
		"perturb --workload EMPTY -- true":       "expected a step \"run NAME\", which runs the command\n",
		"perturb --workload FLAGS -- true":       "expected \"run NAME\" without flags, found \"run a --on b\"\n",
		"perturb --workload UNKNOWN -- true":     "expected a step (",
		"perturb --workload FAILS -q -- false":   "fakeapi: perturb: ",
		"perturb --workload FAILS -q -- no-such": "fakeapi: perturb: ",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"EMPTY": "", "FLAGS": "run a --on b\n", "UNKNOWN": "walk\n", "FAILS": "run a\nexpect cm/a\n"}
			var words []string
			for _, word := range strings.Fields(args) {
				if text, ok := files[word]; ok {
					word = manifest(t, word, text)
				}
				words = append(words, word)
			}
			got := runCommand(t, words...)
			require.NotZero(t, got.status)
			require.Contains(t, got.stderr, want)
		})
	}
}
