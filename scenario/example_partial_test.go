package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// records publishes a record for each Ingress with an existing Service, as a ConfigMap in namespace
// "dns", and deletes all other records, once a minute. failed decides whether to continue if a
// Service could not be read.
func records(failed func(error) error) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config)
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			wanted, err := wantedRecords(ctx, client, failed)
			if err == nil {
				err = publish(ctx, client.CoreV1().ConfigMaps("dns"), wanted)
			}
			if err != nil {
				utilruntime.HandleError(err)
			}
		}, time.Minute)
		return nil
	}
}

func wantedRecords(ctx context.Context, client kubernetes.Interface, failed func(error) error) (map[string]bool, error) {
	ingresses, err := client.NetworkingV1().Ingresses("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, ingress := range ingresses.Items {
		_, err := client.CoreV1().Services("default").Get(ctx, ingress.Name, metav1.GetOptions{})
		if err == nil {
			wanted["record-"+ingress.Name] = true
		} else if err := failed(err); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

func publish(ctx context.Context, zone typedv1.ConfigMapInterface, wanted map[string]bool) error {
	for name := range wanted {
		record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := zone.Create(ctx, record, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	all, err := zone.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, record := range all.Items {
		if !wanted[record.Name] {
			if err := zone.Delete(ctx, record.Name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ignoreError logs the error and continues with the Services that were found.
func ignoreError(err error) error {
	utilruntime.HandleError(err)
	return nil
}

// failUnlessNotFound continues if the Service does not exist. After any other error nothing may be
// deleted.
func failUnlessNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

const recordsScenario = `
apply site.yaml
run records
watch zone configmap -n dns
expect events zone ADDED record-web
fault outage: when verb(get) && resource(services) && userAgent(records) && first(1) do status(504)
advance 5m
expect hits outage 1
expect events zone
-- site.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: dns}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
`

// An object that could not be read is treated as missing, and its records are deleted. In
// production this is the whole DNS zone while the API server is down:
// https://github.com/kubernetes-sigs/external-dns/issues/2858, where a gateway that could not be
// read was logged and skipped. In issues/3628 the fix went too far, and a gateway that does not
// exist blocked all others. A list whose second page fails, and discovery while an aggregated
// server is down, are other ways to get partial data.
func ExamplePlay_partial() {
	for _, failed := range []func(error) error{ignoreError, failUnlessNotFound} {
		_, err := scenario.Play("records.txtar", recordsScenario, scenario.Config{
			Clients: map[string]scenario.Client{"records": records(failed)},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "\ntranscript so far:")
		fmt.Println(what)
	}
	// Output:
	// records.txtar:9: expect events zone
	//     expected of watch zone []; saw [DELETED record-web ADDED record-web]
	// <nil>
}
