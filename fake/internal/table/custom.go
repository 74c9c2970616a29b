package table

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
)

// CustomPrinter returns the printer of a version of a custom resource, whose objects are
// unstructured. The columns are the name and the version's additionalPrinterColumns, or the age if
// there are none (TB-07).
//
// A column with an invalid path is an error. CustomPrinter then also returns a printer with the
// columns before it, which is what a real server shows.
func CustomPrinter(columns []apiextensionsv1.CustomResourceColumnDefinition) (*Printer, error) {
	if len(columns) == 0 {
		columns = []apiextensionsv1.CustomResourceColumnDefinition{createdColumn()}
	}
	c := &customCells{}
	p := &Printer{columns: []metav1.TableColumnDefinition{named()}, cells: c.of, notPrinted: notPrintedCustom(columns)}
	for _, column := range columns {
		path := jsonpath.New(column.Name).AllowMissingKeys(true)
		if err := path.Parse("{" + column.JSONPath + "}"); err != nil {
			return p, fmt.Errorf("unrecognized column definition %q", column.JSONPath)
		}
		if column.Description == "" {
			column.Description = "Custom resource definition column (in JSONPath format): " + column.JSONPath
		}
		c.columns = append(c.columns, customColumn{column.Type, path})
		p.columns = append(p.columns, metav1.TableColumnDefinition{
			Name: column.Name, Type: column.Type, Format: column.Format,
			Description: column.Description, Priority: column.Priority,
		})
	}
	return p, nil
}

// CustomScalePrinter returns the printer of the Scale of custom resources: desired and available
// replicas, and the age. It differs from that of built-in types.
func CustomScalePrinter() *Printer { return customScale() }

var customScale = sync.OnceValue(func() *Printer {
	p, err := CustomPrinter([]apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "Desired", Type: "integer", Description: "Number of desired replicas", JSONPath: ".spec.replicas"},
		{Name: "Available", Type: "integer", Description: "Number of actual replicas", JSONPath: ".status.replicas"},
		createdColumn(),
	})
	if err != nil {
		panic(fmt.Sprintf("table: %v", err)) // the paths are constants of this file
	}
	return p
})

// createdColumn returns the age column of custom resources.
func createdColumn() apiextensionsv1.CustomResourceColumnDefinition {
	return apiextensionsv1.CustomResourceColumnDefinition{
		Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp",
		Description: describes(metav1.ObjectMeta{}, "creationTimestamp"),
	}
}

// customCells returns the cells of a custom resource.
type customCells struct {
	// mu is held while a path is evaluated: JSONPath values have state.
	mu      sync.Mutex
	columns []customColumn
}

// customColumn is the type and the path of a column.
type customColumn struct {
	kind string
	path *jsonpath.JSONPath
}

func (c *customCells) of(obj runtime.Object) ([]any, error) {
	content, err := contentOf(obj)
	if err != nil {
		return nil, err
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	cells := make([]any, 1, 1+len(c.columns))
	cells[0] = m.GetName()
	for i := range c.columns {
		cells = append(cells, c.columns[i].cell(content))
	}
	return cells, nil
}

// contentOf returns an object as decoded JSON. A Scale is a typed object.
func contentOf(obj runtime.Object) (map[string]any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return u.UnstructuredContent(), nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}

// cell returns the first value at the path, or nil if there is none or it is not of the column's
// type.
func (c *customColumn) cell(content map[string]any) any {
	found, err := c.path.FindResults(content)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return nil
	}
	value := found[0][0].Interface()
	if c.kind == "string" {
		var text bytes.Buffer
		if err := c.path.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}); err != nil {
			return nil
		}
		return text.String()
	}
	return convert(c.kind, value)
}

// convert returns the cell of a JSON value in a column that is not a string.
func convert(kind string, value any) any {
	switch v := value.(type) {
	case int64:
		switch kind {
		case "integer":
			return v
		case "number":
			return float64(v)
		}
	case float64:
		switch {
		case kind == "integer" && math.Abs(v) < math.MaxInt64: // larger values depend on the platform
			return int64(v)
		case kind == "number":
			return v
		}
	case bool:
		if kind == "boolean" {
			return v
		}
	case string:
		if kind == "date" {
			return dateCell(v)
		}
	}
	return nil
}

// dateCell returns the cell of a time: how long ago it was.
func dateCell(text string) any {
	var t metav1.Time
	if err := t.UnmarshalQueryParameter(text); err != nil {
		return "<invalid>"
	}
	return since(t)
}
