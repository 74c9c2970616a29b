package operators

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// records returns an operator that keeps a record in an external system for each Service. The
// objects in the namespace "external" stand for that system.
func records() Operator {
	return Operator{
		Name:   "records",
		Source: "https://github.com/netbox-community/netbox-operator/issues/77",
		Bug:    "The finalizer is added after the record, so the record remains if the Service is deleted in between.",
		Shows:  "The operator crashes between the two writes, and the Service is deleted before it is back.",
		Setup:  []scenario.Step{namespace("external")},
		Workload: []scenario.Step{
			service("web", "dns", "true"), remove("service", "web"),
			service("api", "dns", "true"), service("web", "dns", "true"), remove("service", "api"),
		},
		Buggy:    runRecords(syncRecordFirst),
		Repaired: runRecords(syncFinalizerFirst),
		Scenario: recordsScenario,
	}
}

const recordsScenario = `
create external.yaml
run operator
# The second write fails until the operator stops.
fault down: when verb(update) && userAgent(operator) do status(503)
apply web.yaml
stop operator
clear faults
delete service/web
run operator
advance 1m
expect absent configmap/web -n external
-- external.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: external}
-- web.yaml --
apiVersion: v1
kind: Service
metadata: {name: web, labels: {dns: "true"}}
spec: {clusterIP: None, ports: [{port: 80}]}
`

const recordFinalizer = "example.com/record"

// serviceLabel is the label of a record with the name of its Service.
const serviceLabel = "service"

// syncRecordFunc creates or deletes the record of a Service, which is not nil.
type syncRecordFunc func(ctx context.Context, client kubernetes.Interface, service *corev1.Service) error

func runRecords(sync syncRecordFunc) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(ctx, config)
		if err != nil {
			return err
		}
		core := c.informers.Core().V1()
		err = errors.Join(
			c.watch(core.Services().Informer(), labelled("dns", "true")),
			c.watch(core.ConfigMaps().Informer(), valueOf(serviceLabel)),
		)
		if err != nil {
			return err
		}
		return c.run(ctx, func(ctx context.Context, name string) error {
			service, err := c.client.CoreV1().Services("default").Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			return sync(ctx, c.client, service)
		})
	}
}

// syncRecordFirst is syncRecordFunc with the bug.
func syncRecordFirst(ctx context.Context, client kubernetes.Interface, service *corev1.Service) error {
	if service.DeletionTimestamp != nil {
		return deleteRecord(ctx, client, service)
	}
	if err := createRecord(ctx, client, service); err != nil {
		return err
	}
	return addRecordFinalizer(ctx, client, service)
}

// syncFinalizerFirst is syncRecordFunc without the bug.
func syncFinalizerFirst(ctx context.Context, client kubernetes.Interface, service *corev1.Service) error {
	if service.DeletionTimestamp != nil {
		return deleteRecord(ctx, client, service)
	}
	if err := addRecordFinalizer(ctx, client, service); err != nil {
		return err
	}
	return createRecord(ctx, client, service)
}

// createRecord creates the record of a Service with its uid, or corrects the uid of one that
// exists.
func createRecord(ctx context.Context, client kubernetes.Interface, service *corev1.Service) error {
	all := client.CoreV1().ConfigMaps("external")
	data := map[string]string{"uid": string(service.UID)}
	record, err := all.Get(ctx, service.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = all.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: service.Name, Labels: map[string]string{serviceLabel: service.Name}},
			Data:       data,
		}, metav1.CreateOptions{})
	case err == nil && record.Data["uid"] != data["uid"]:
		record.Data = data
		_, err = all.Update(ctx, record, metav1.UpdateOptions{})
	}
	return err
}

// addRecordFinalizer adds the finalizer. It fails if the Service has changed since it was read.
func addRecordFinalizer(ctx context.Context, client kubernetes.Interface, service *corev1.Service) error {
	if slices.Contains(service.Finalizers, recordFinalizer) {
		return nil
	}
	service = service.DeepCopy()
	service.Finalizers = append(service.Finalizers, recordFinalizer)
	_, err := client.CoreV1().Services("default").Update(ctx, service, metav1.UpdateOptions{})
	return err
}

// deleteRecord deletes the record of a Service that is being deleted, unless it is that of another
// Service, and then removes the finalizer.
func deleteRecord(ctx context.Context, client kubernetes.Interface, service *corev1.Service) error {
	at := slices.Index(service.Finalizers, recordFinalizer)
	if at < 0 {
		return nil
	}
	all := client.CoreV1().ConfigMaps("external")
	record, err := all.Get(ctx, service.Name, metav1.GetOptions{})
	if err == nil && record.Data["uid"] == string(service.UID) {
		err = all.Delete(ctx, record.Name, onlyThis(record))
	}
	if ignoreNotFound(err) != nil {
		return err
	}
	service = service.DeepCopy()
	service.Finalizers = slices.Delete(service.Finalizers, at, at+1)
	_, err = client.CoreV1().Services("default").Update(ctx, service, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}
