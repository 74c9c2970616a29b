package scenario_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"example.com/fakeapi/scenario"
)

// protect adds a finalizer to the ConfigMap "db". It gets the object again before each attempt, but
// writes the list of finalizers that it computed before the first one.
func protect(ctx context.Context, config *rest.Config) error {
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	db, err := maps.Get(ctx, "db", metav1.GetOptions{})
	if err != nil {
		return err
	}
	finalizers := withCleanUp(db.Finalizers)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		db, err := maps.Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		db.Finalizers = finalizers
		_, err = maps.Update(ctx, db, metav1.UpdateOptions{})
		return err
	})
}

// protectFixed computes the list from the object that it writes.
func protectFixed(ctx context.Context, config *rest.Config) error {
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		db, err := maps.Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		db.Finalizers = withCleanUp(db.Finalizers)
		_, err = maps.Update(ctx, db, metav1.UpdateOptions{})
		return err
	})
}

// withCleanUp adds the finalizer, which an attempt without a response may have added before.
func withCleanUp(finalizers []string) []string {
	const cleanUp = "example.com/clean-up"
	if slices.Contains(finalizers, cleanUp) {
		return finalizers
	}
	return append(finalizers, cleanUp)
}

const protectScenario = `
apply db.yaml
# While the first write is on its way, a backup begins, which has a finalizer, too.
fault slow: when verb(update) && userAgent(protect) && first(1) do delay(5s)
run protect
apply backup.yaml
advance 10s
expect done protect
expect configmap/db metadata.finalizers[0]=example.com/backup
expect requests protect "PUT /api/v1/namespaces/default/configmaps/db 409" 1
-- db.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: db}
-- backup.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: db, finalizers: [example.com/backup]}
`

// A retry after a conflict overwrites what other clients have written in between. In production the
// finalizer of another controller is lost, and the object is deleted before that controller has
// cleaned up. The loop is in https://github.com/fybrik/fybrik/pull/1385;
// https://github.com/reddit/achilles-sdk/pull/129 fixes the same bug with merge patches, which
// replace lists and never conflict. The written value must be computed from the object that was
// read for the attempt.
func ExamplePlay_conflict() {
	for _, client := range []scenario.Client{protect, protectFixed} {
		_, err := scenario.Play("protect.txtar", protectScenario, scenario.Config{
			Clients: map[string]scenario.Client{"protect": client},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "\ntranscript so far:")
		fmt.Println(what)
	}
	// Output:
	// protect.txtar:9: expect configmap/db metadata.finalizers[0]=example.com/backup
	//     expected metadata.finalizers[0]=example.com/backup; saw metadata.finalizers[0]=example.com/clean-up
	// <nil>
}
