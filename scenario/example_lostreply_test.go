package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// nightly starts the report of this night. It treats an error as a Job that was not created, and
// retries under a new name.
func nightly(ctx context.Context, config *rest.Config) error {
	jobs := kubernetes.NewForConfigOrDie(config).BatchV1().Jobs("default")
	for ctx.Err() == nil {
		_, err := jobs.Create(ctx, reportJob(time.Now().UTC()), metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		time.Sleep(time.Second)
	}
	return ctx.Err()
}

// nightlyFixed names the Job after the time that it is due, midnight. All attempts have the same
// name, also those after a restart, and AlreadyExists is a success.
func nightlyFixed(ctx context.Context, config *rest.Config) error {
	jobs := kubernetes.NewForConfigOrDie(config).BatchV1().Jobs("default")
	due := time.Now().UTC().Truncate(24 * time.Hour)
	for ctx.Err() == nil {
		_, err := jobs.Create(ctx, reportJob(due), metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		time.Sleep(time.Second)
	}
	return ctx.Err()
}

func reportJob(due time.Time) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("report-%d", due.Unix())},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "report", Image: "report"}},
		}}},
	}
}

const nightlyScenario = `
# The Job is stored, and the connection breaks before the reply.
fault lost: when verb(create) && resource(jobs) && during(committed) && first(1) do reset
run nightly
eventually 1m expect done nightly
expect list job report-946684800
`

// A Job is started twice because a response was lost. In production the invoice is sent twice: the
// connection times out, or the server or a load balancer restarts, between the write and its
// response. A name from generateName or with a random suffix has the same bug. CronJobs were
// designed to avoid it: https://github.com/kubernetes/kubernetes/pull/25595 proposes names that are
// derived from the schedule, so that at most one create can succeed.
func ExamplePlay_lostReply() {
	for _, client := range []scenario.Client{nightly, nightlyFixed} {
		_, err := scenario.Play("nightly.txtar", nightlyScenario, scenario.Config{
			Clients: map[string]scenario.Client{"nightly": client},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "\ntranscript so far:")
		fmt.Println(what)
	}
	// Output:
	// nightly.txtar:6: expect list job report-946684800
	//     expected the job list [report-946684800]; saw [report-946684800 report-946684801]
	// <nil>
}
