package table

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Printer makes the rows of one type. It is immutable.
type Printer struct {
	columns []metav1.TableColumnDefinition
	cells   func(runtime.Object) ([]any, error)
	// conditions are those of a row, nil for none.
	conditions func(runtime.Object) []metav1.TableRowCondition
	// compare orders the rows of a list, nil where the list's own order stays.
	compare func(a, b runtime.Object) int
	// plain is the printer of the types that have none of their own.
	plain bool
}

// PrinterFor gives the printer of a kind in the version that is stored.
func PrinterFor(kind schema.GroupVersionKind) *Printer {
	if p := printers()[kind]; p != nil {
		return p
	}
	return plain()
}

// Columns defines the columns. Nobody may change them.
func (p *Printer) Columns() []metav1.TableColumnDefinition { return p.columns }

// CompareFunc orders the objects of a list as its rows are; it is nil where they have
// the order of the list.
func (p *Printer) CompareFunc() func(a, b runtime.Object) int { return p.compare }

// EmptyIsNull tells that a list of nothing has null for rows, as it has on a real
// server for types without a printer of their own.
func (p *Printer) EmptyIsNull() bool { return p.plain }

// printers are the types that have one.
var printers = sync.OnceValue(func() map[schema.GroupVersionKind]*Printer {
	all := map[schema.GroupVersionKind]*Printer{}
	for _, e := range slices.Concat(
		podPrinters(),
		corePrinters(),
		volumePrinters(),
		nodePrinters(),
		eventPrinters(),
		workloadPrinters(),
		batchPrinters(),
		autoscalingPrinters(),
		servicePrinters(),
		ingressPrinters(),
		networkPrinters(),
		rbacPrinters(),
		certificatePrinters(),
		storagePrinters(),
		admissionregistrationPrinters(),
		schedulingPrinters(),
		flowPrinters(),
		devicePrinters(),
	) {
		all[e.kind] = e.printer
	}
	return all
})

// entry is a printer and what it prints.
type entry struct {
	kind    schema.GroupVersionKind
	printer *Printer
}

// object is a pointer to a type of an API.
type object[T any] interface {
	*T
	runtime.Object
}

// newEntry makes the entry of the type T, which has the name of its kind.
func newEntry[T any, P object[T]](gv schema.GroupVersion, cells func(P) []any, columns ...metav1.TableColumnDefinition) entry {
	kind := gv.WithKind(reflect.TypeFor[T]().Name())
	return entry{kind, &Printer{
		columns: columns,
		cells: func(obj runtime.Object) ([]any, error) {
			o, ok := obj.(P)
			if !ok {
				return nil, fmt.Errorf("the rows of %s are not made of %T", kind.Kind, obj)
			}
			return cells(o), nil
		},
	}}
}

// plain prints what all objects have. Its time is no age.
var plain = sync.OnceValue(func() *Printer {
	return &Printer{
		plain: true,
		columns: []metav1.TableColumnDefinition{
			named(),
			{Name: "Created At", Type: "date", Description: describes(metav1.ObjectMeta{}, "creationTimestamp")},
		},
		cells: func(obj runtime.Object) ([]any, error) {
			m, err := meta.Accessor(obj)
			if err != nil {
				return nil, err
			}
			return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}, nil
		},
	}
})
