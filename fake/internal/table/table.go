package table

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
)

// Printer prints the rows of one type. It is immutable.
type Printer struct {
	columns []metav1.TableColumnDefinition
	cells   func(runtime.Object) ([]any, error)
	// conditions returns the conditions of a row. It may be nil.
	conditions func(runtime.Object) []metav1.TableRowCondition
	// compare orders the rows of a list. If it is nil, they are in the order of the list.
	compare func(a, b runtime.Object) int
	// isDefault reports whether an object is marked as a default of its type. It may be nil.
	isDefault func(runtime.Object) bool
	// emptyIsNull reports whether an empty list has null for rows.
	emptyIsNull bool
	// notPrinted is the result of NotPrinted for a custom resource.
	notPrinted codec.FieldSet
}

// PrinterFor returns the printer of a kind in its storage version.
func PrinterFor(kind schema.GroupVersionKind) *Printer {
	if p := printers()[kind]; p != nil {
		return p
	}
	return plain()
}

// Columns returns the columns. They must not be changed.
func (p *Printer) Columns() []metav1.TableColumnDefinition { return p.columns }

// NotPrinted returns fields that the printer does not read: those that take long to decode. They
// must not be changed.
func (p *Printer) NotPrinted() codec.FieldSet {
	if p.notPrinted != nil {
		return p.notPrinted
	}
	return notPrinted()
}

// CompareFunc returns the function that orders the rows of a list, or nil if they are in the order
// of the list.
func (p *Printer) CompareFunc() func(a, b runtime.Object) int { return p.compare }

// DefaultFunc returns the function that reports whether an object is a default of its type, of
// which only the newest of a list gets a mark, by WithDefaultMark. It is nil for other types.
func (p *Printer) DefaultFunc() func(runtime.Object) bool { return p.isDefault }

// EmptyIsNull reports whether an empty list has null for rows, as it has on a real server for types
// without a printer and for CustomResourceDefinitions.
func (p *Printer) EmptyIsNull() bool { return p.emptyIsNull }

// printers has the types with a printer.
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
		apiregistrationPrinters(),
		apiextensionsPrinters(),
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

// entry is a kind and its printer.
type entry struct {
	kind    schema.GroupVersionKind
	printer *Printer
}

// object is a pointer to an API type.
type object[T any] interface {
	*T
	runtime.Object
}

// newEntry returns the entry of type T, whose name is its kind.
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

// plain prints the name and the creation time of any object.
var plain = sync.OnceValue(func() *Printer {
	return &Printer{
		emptyIsNull: true,
		columns:     []metav1.TableColumnDefinition{named(), created()},
		cells: func(obj runtime.Object) ([]any, error) {
			m, err := meta.Accessor(obj)
			if err != nil {
				return nil, err
			}
			return []any{m.GetName(), createdAt(m)}, nil
		},
	}
})
