package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// addresses returns an operator that assigns an address to each Service with the label pool=main,
// as an annotation. ConfigMap addresses has the names of the Services by address. Addresses are
// never released.
func addresses() Operator {
	return Operator{
		Name:   "addresses",
		Source: "https://github.com/metallb/metallb/issues/1774 https://github.com/metallb/metallb/issues/2479",
		Bug:    "The addresses in use are only known from memory, which is empty after a restart.",
		Shows:  "The operator restarts when there is a Service without an address whose name precedes one with an address.",
		Workload: []scenario.Step{
			service("z", "pool", "main"),
			service("m", "pool", "main"),
			service("a", "pool", "main"),
		},
		Buggy:    runAddressesInMemory,
		Repaired: runAddressesInTable,
		Scenario: addressesScenario,
	}
}

const addressesScenario = `
apply z.yaml
run operator
expect service/z metadata.annotations.address=10.0.0.1
stop operator
apply a.yaml
run operator
advance 1m
expect service/z metadata.annotations.address=10.0.0.1
expect service/a metadata.annotations.address=10.0.0.2
-- z.yaml --
apiVersion: v1
kind: Service
metadata: {name: z, labels: {pool: main}}
spec: {clusterIP: None, ports: [{port: 80}]}
-- a.yaml --
apiVersion: v1
kind: Service
metadata: {name: a, labels: {pool: main}}
spec: {clusterIP: None, ports: [{port: 80}]}
`

const (
	// addressAnnotation is the annotation of a Service with its address.
	addressAnnotation = "address"
	// tableName is the name of the ConfigMap with the assigned addresses.
	tableName = "addresses"
	// poolSize is the number of addresses.
	poolSize = 8
)

// firstFree returns the first address that is not in use.
func firstFree(used map[string]string) (string, error) {
	for i := range poolSize {
		address := fmt.Sprintf("10.0.0.%d", i+1)
		if _, ok := used[address]; !ok {
			return address, nil
		}
	}
	return "", errors.New("no address is free")
}

// addressOf returns the address of a Service, or "".
func addressOf(used map[string]string, name string) string {
	for address, of := range used {
		if of == name {
			return address
		}
	}
	return ""
}

// runAddresses lists the Services every seven seconds, and calls assign for each of them, in the
// order of their names.
func runAddresses(ctx context.Context, config *rest.Config, assign func(context.Context, kubernetes.Interface, *corev1.Service) error) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	poll(ctx, 7*time.Second, func(ctx context.Context) error {
		all, err := client.CoreV1().Services("default").List(ctx, metav1.ListOptions{LabelSelector: "pool=main"})
		if err != nil {
			return err
		}
		var errs []error
		for i := range all.Items {
			errs = append(errs, assign(ctx, client, &all.Items[i]))
		}
		return errors.Join(errs...)
	})
	return nil
}

// runAddressesInMemory is the operator with the bug.
func runAddressesInMemory(ctx context.Context, config *rest.Config) error {
	used := map[string]string{}
	return runAddresses(ctx, config, func(ctx context.Context, client kubernetes.Interface, service *corev1.Service) (err error) {
		address := service.Annotations[addressAnnotation]
		if address == "" {
			address = addressOf(used, service.Name)
		}
		if address == "" {
			if address, err = firstFree(used); err != nil {
				return err
			}
		}
		used[address] = service.Name
		if err := annotateAddress(ctx, client, service, address); err != nil {
			return err
		}
		table, err := readTable(ctx, client)
		if err != nil || table.Data[address] != "" {
			return err
		}
		return writeTable(ctx, client, table, address, service.Name)
	})
}

// runAddressesInTable is the operator without the bug. The table decides. It is read before each
// assignment, and changed only if nobody else has changed it.
func runAddressesInTable(ctx context.Context, config *rest.Config) error {
	return runAddresses(ctx, config, func(ctx context.Context, client kubernetes.Interface, service *corev1.Service) error {
		table, err := readTable(ctx, client)
		if err != nil {
			return err
		}
		address := addressOf(table.Data, service.Name)
		if address == "" {
			if address, err = chooseAddress(ctx, client, table, service); err != nil {
				return err
			}
			if err := writeTable(ctx, client, table, address, service.Name); err != nil {
				return err
			}
		}
		return annotateAddress(ctx, client, service, address)
	})
}

// chooseAddress returns an address for a Service that is not in the table: the one that it has, if
// possible, or one that neither the table nor another Service has.
func chooseAddress(ctx context.Context, client kubernetes.Interface, table *corev1.ConfigMap, service *corev1.Service) (string, error) {
	used := map[string]string{}
	for address, name := range table.Data {
		used[address] = name
	}
	all, err := client.CoreV1().Services("default").List(ctx, metav1.ListOptions{LabelSelector: "pool=main"})
	if err != nil {
		return "", err
	}
	for _, other := range all.Items {
		if address := other.Annotations[addressAnnotation]; address != "" && other.Name != service.Name {
			used[address] = other.Name
		}
	}
	if address := service.Annotations[addressAnnotation]; address != "" && used[address] == "" {
		return address, nil
	}
	return firstFree(used)
}

// readTable returns the table, which has no resourceVersion if it does not exist.
func readTable(ctx context.Context, client kubernetes.Interface) (*corev1.ConfigMap, error) {
	table, err := client.CoreV1().ConfigMaps("default").Get(ctx, tableName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: tableName}}, nil
	}
	return table, err
}

// writeTable adds an entry to the table. It fails if the table has changed since it was read.
func writeTable(ctx context.Context, client kubernetes.Interface, table *corev1.ConfigMap, address, name string) error {
	table = table.DeepCopy()
	if table.Data == nil {
		table.Data = map[string]string{}
	}
	table.Data[address] = name
	var err error
	if table.ResourceVersion == "" {
		_, err = client.CoreV1().ConfigMaps("default").Create(ctx, table, metav1.CreateOptions{})
	} else {
		_, err = client.CoreV1().ConfigMaps("default").Update(ctx, table, metav1.UpdateOptions{})
	}
	return err
}

// annotateAddress sets the annotation of a Service. It fails if the Service has changed since it
// was read.
func annotateAddress(ctx context.Context, client kubernetes.Interface, service *corev1.Service, address string) error {
	if service.Annotations[addressAnnotation] == address {
		return nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": service.UID, "resourceVersion": service.ResourceVersion,
		"annotations": map[string]string{addressAnnotation: address},
	}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Services("default").Patch(ctx, service.Name, types.MergePatchType, body, metav1.PatchOptions{})
	return ignoreNotFound(err)
}
