package perturb_test

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// every returns a controller that calls f each second. Its errors are ignored.
func every(f func(ctx context.Context, maps typedv1.ConfigMapInterface) error) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		wait.UntilWithContext(ctx, func(ctx context.Context) { _ = f(ctx, maps) }, time.Second)
		return nil
	}
}

// ensure creates a ConfigMap with data.
func ensure(ctx context.Context, maps typedv1.ConfigMapInterface, name string, data map[string]string) error {
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// configOf returns the configuration for one controller named c.
func configOf(c scenario.Client) perturb.Config {
	return perturb.Config{Controllers: map[string]scenario.Client{"c": c}, Recovery: 2 * time.Minute}
}

func namesOf(report *perturb.Report) (names []string) {
	for _, f := range report.Findings {
		names = append(names, f.Name)
	}
	return names
}

// giveUp returns a controller that creates an object only in its first attempt.
func giveUp() scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		_ = ensure(ctx, kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default"), "a", nil) // that is the bug
		<-ctx.Done()
		return nil
	}
}

// A known finding does not fail the test, and is reported when it has gone. The files of findings
// are scenarios that fail.
func TestKnownFindings(t *testing.T) {
	config := configOf(giveUp())
	config.Dir = t.TempDir()
	var progress bytes.Buffer
	config.Progress = &progress
	config.Known = map[string]string{"state configmaps default/a (fail)": "it is a test", "state configmaps default/b (fail)": "gone"}
	report, err := perturb.Search(config)
	require.NoError(t, err)
	require.Equal(t, []string{"state configmaps default/a (fail)"}, namesOf(report))
	require.Equal(t, []string{"state configmaps default/b (fail)"}, report.Gone)
	f := report.Findings[0]
	require.Equal(t, "it is a test", f.Known)
	require.True(t, f.Reproduced)
	require.Contains(t, f.String(), "configmaps default/a: one in the reference, none in this run")
	require.Contains(t, progress.String(), "found state configmaps default/a (fail)")
	require.Contains(t, progress.String(), fmt.Sprintf("%d of %d runs, 1 findings", report.Runs, report.Runs))

	names, err := filepath.Glob(filepath.Join(config.Dir, "*"))
	require.NoError(t, err)
	require.Len(t, names, 3)
	page, err := os.ReadFile(filepath.Join(config.Dir, "state-configmaps-default-a-fail.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "<html")
	text, err := os.ReadFile(filepath.Join(config.Dir, "state-configmaps-default-a-fail.txtar"))
	require.NoError(t, err)
	_, err = scenario.Play("finding", string(text), scenario.Config{Clients: config.Controllers})
	require.ErrorContains(t, err, "expected configmaps/a; saw none")

	config.Known = map[string]string{"state configmaps default/a (fail)": "it is a test"}
	perturb.Run(t, config)
}

// FindOne goes on if a file does not reproduce what was found, because it does not happen each
// time.
func TestFindOne(t *testing.T) {
	internal := 0 // errors
	config := configOf(func(ctx context.Context, config *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		if err := ensure(ctx, maps, "a", nil); apierrors.IsInternalError(err) {
			if internal++; internal > 2 {
				_ = ensure(ctx, maps, "a", nil)
			}
		}
		<-ctx.Done()
		return nil
	})
	config.Parallel, config.FindOne = 1, true
	report, err := perturb.Search(config)
	require.NoError(t, err)
	require.Equal(t, []string{"state configmaps default/a (fail)"}, namesOf(report))
	require.True(t, report.Findings[0].Reproduced)
	require.Equal(t, []string{"fail 500: create 1 of configmaps in default by c"}, report.Findings[0].Others)
	require.Less(t, report.Runs, report.Perturbations)
}

// A violation that a second run does not show is no finding.
func TestSecondRun(t *testing.T) {
	internal := 0 // errors
	config := configOf(func(ctx context.Context, config *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		for err := ensure(ctx, maps, "a", nil); err != nil && ctx.Err() == nil; err = ensure(ctx, maps, "a", nil) {
			if apierrors.IsInternalError(err) {
				if internal++; internal == 1 {
					break
				}
			}
		}
		<-ctx.Done()
		return nil
	})
	config.Parallel = 1
	require.Empty(t, perturb.Run(t, config).Findings)
	require.Equal(t, 2, internal)
}

// A violation that the second run does not show counts if a third one does, as long as each run has
// some.
func TestThirdRun(t *testing.T) {
	internal := 0 // errors
	config := configOf(func(ctx context.Context, config *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		names := []string{"a", "b"}
		if err := ensure(ctx, maps, "a", nil); apierrors.IsInternalError(err) {
			names = names[internal%2:][:1]
			internal++
		}
		for _, name := range names {
			for ensure(ctx, maps, name, nil) != nil && ctx.Err() == nil {
			}
		}
		<-ctx.Done()
		return nil
	})
	config.Parallel = 1
	report, err := perturb.Search(config)
	require.NoError(t, err)
	require.Equal(t, []string{"state configmaps default/b (fail)"}, namesOf(report))
}

// A controller that repeats what has failed is clean.
func TestClean(t *testing.T) {
	perturb.Run(t, configOf(every(func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return ensure(ctx, maps, "a", map[string]string{"k": "v"})
	})))
}

// Each oracle finds what it is about.
func TestOracles(t *testing.T) {
	for name, test := range map[string]struct {
		client     scenario.Client
		invariants []perturb.Invariant
		want       string
	}{
		"panic": {
			client: func(ctx context.Context, config *rest.Config) error {
				if err := ensure(ctx, kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default"), "a", nil); err != nil {
					panic(err)
				}
				<-ctx.Done()
				return nil
			},
			want: "panic c (fail)",
		},
		"errors": {
			client: func(ctx context.Context, config *rest.Config) error {
				maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
				if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
					return err
				}
				<-ctx.Done()
				return nil
			},
			want: "errors c (crash)",
		},
		"loop": {
			client: func(ctx context.Context, config *rest.Config) error {
				maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
				if ensure(ctx, maps, "a", nil) != nil {
					every(func(ctx context.Context, maps typedv1.ConfigMapInterface) error { return ensure(ctx, maps, "a", nil) })(ctx, config)
				}
				<-ctx.Done()
				return nil
			},
			want: "loop c (fail)",
		},
		"answers": {
			client: func(ctx context.Context, config *rest.Config) error {
				maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
				for range 200 {
					if ensure(ctx, maps, "a", nil) == nil {
						break
					}
					for range 100 {
						_, _ = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}}, metav1.CreateOptions{})
					}
				}
				<-ctx.Done()
				return nil
			},
			want: "answers 409 c (fail)",
		},
		"invariant": {
			client: every(func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
				return errors.Join(ensure(ctx, maps, "a", nil), ensure(ctx, maps, "b", nil))
			}),
			invariants: []perturb.Invariant{{Name: "a first", Check: func(s *perturb.State) error {
				if s.Get("configmaps", "default", "b") != nil && s.Get("configmaps", "default", "a") == nil {
					return fmt.Errorf("%d objects, and no a", len(s.List("configmaps", "default")))
				}
				return nil
			}}},
			want: "invariant a first (fail)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := configOf(test.client)
			config.Invariants = test.invariants
			report, err := perturb.Search(config)
			require.NoError(t, err)
			require.Contains(t, namesOf(report), test.want)
		})
	}
}

// The search refuses workloads that cannot be compared.
func TestUnsuitableWorkloads(t *testing.T) {
	count := 0
	for want, config := range map[string]perturb.Config{
		"Controllers is empty": {},
		"is not quiet": configOf(every(func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
			_ = maps.Delete(ctx, "a", metav1.DeleteOptions{})
			return ensure(ctx, maps, "a", nil)
		})),
		"different results": configOf(func(ctx context.Context, config *rest.Config) error {
			count++
			maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
			return ensure(ctx, maps, strings.Repeat("x", count), nil)
		}),
		"the undisturbed run fails":  {Controllers: map[string]scenario.Client{"c": giveUp()}, Workload: []scenario.Step{scenario.StopClient("x")}},
		"the undisturbed run panics": configOf(func(context.Context, *rest.Config) error { panic("no") }),
	} {
		config.Parallel = 1
		_, err := perturb.Search(config)
		require.ErrorContains(t, err, want)
	}
	config := configOf(giveUp())
	config.Ignore = []string{"configmaps"}
	_, err := perturb.Search(config)
	require.ErrorContains(t, err, "expected RESOURCE/NAME")
}

// What is ignored is not compared.
func TestIgnore(t *testing.T) {
	config := configOf(giveUp())
	config.Ignore = []string{"configmaps/a"}
	require.Empty(t, perturb.Run(t, config).Findings)
}

// A search goes on where another one has ended, and reports the run that ended the process.
func TestResume(t *testing.T) {
	config := configOf(every(func(ctx context.Context, maps typedv1.ConfigMapInterface) error { return ensure(ctx, maps, "a", nil) }))
	config.Resume = filepath.Join(t.TempDir(), "progress")
	text := "begin fail 500: create 1 of configmaps in default by c\n" +
		"begin fail 504: create 1 of configmaps in default by c\ndone fail 504: create 1 of configmaps in default by c\n"
	require.NoError(t, os.WriteFile(config.Resume, []byte(text), 0o666))
	report, err := perturb.Search(config)
	require.NoError(t, err)
	require.Equal(t, []string{"panic process (fail)"}, namesOf(report))
	require.Contains(t, report.Findings[0].Perturbation, "fail 500: create 1")
	require.NoFileExists(t, config.Resume)
}

//go:embed doc.go
var manual string

// The kinds are documented. A test of the command compares their cases with the catalogue of
// faults.
func TestKindsAreDocumented(t *testing.T) {
	var listed, names []string
	_, table, _ := strings.Cut(manual, "in faults/CATALOGUE.md:")
	table, _, _ = strings.Cut(table, "// The places are")
	for _, row := range regexp.MustCompile(`(?m)^//\t(\w+) `).FindAllStringSubmatch(table, -1) {
		listed = append(listed, row[1])
	}
	for _, k := range perturb.Kinds() {
		names = append(names, k.Name)
		require.NotEmpty(t, k.Imitates)
		require.NotEmpty(t, k.Catalogue)
	}
	require.Equal(t, names, listed)
}
