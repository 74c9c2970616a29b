package perturb_test

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// deliver starts a Job for each order, a ConfigMap with the label order, and notes its name there.
func deliver(ctx context.Context, config *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(config)
	return wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		orders, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{LabelSelector: "order"})
		if err != nil {
			return false, nil // next time
		}
		for _, order := range orders.Items {
			if order.Data["job"] != "" {
				continue
			}
			job, err := client.BatchV1().Jobs("default").Create(ctx, delivery(&order), metav1.CreateOptions{})
			if err != nil {
				continue
			}
			order.Data = map[string]string{"job": job.Name}
			_, _ = client.CoreV1().ConfigMaps("default").Update(ctx, &order, metav1.UpdateOptions{}) // or next time
		}
		return false, nil
	})
}

// delivery returns a Job whose name is generated from that of the order.
func delivery(order *corev1.ConfigMap) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: order.Name + "-"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "deliver"}},
		}}},
	}
}

// perturbDeliver perturbs the controller.
func perturbDeliver() (*perturb.Report, error) {
	report, err := perturb.Search(perturb.Config{
		Controllers: map[string]scenario.Client{"deliver": deliver},
		Workload:    []scenario.Step{scenario.Apply("pizza.yaml", pizza)},
	})
	return report, err
}

const pizza = "{apiVersion: v1, kind: ConfigMap, metadata: {name: pizza, labels: {order: new}}}\n"

// An order is delivered twice if the reply to the first create is lost, or if the controller ends
// between the two writes.
func ExampleSearch() {
	report, err := perturbDeliver()
	fmt.Println(err)
	for _, finding := range report.Findings {
		fmt.Println(finding.Name)
	}
	// Output:
	// <nil>
	// created jobs.batch default/pizza-* (crash)
	// created jobs.batch default/pizza-* (fail)
	// state jobs.batch default/pizza-* (edit)
}
