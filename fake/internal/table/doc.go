// Package table prints objects as rows of a meta.k8s.io Table, which is what kubectl get shows. The
// server prints them so that clients can show types that they do not know.
//
// Each type has a Printer in the file of its group or family (pod.go, workload.go, ...): columns,
// and a function from the typed object to the cells. Names, types, formats, priorities and
// descriptions of columns are those of k8s.io/kubernetes/pkg/printers/internalversion of v1.37,
// which cannot be imported; those of CustomResourceDefinitions are in apiextensions-apiserver.
// Types without a printer there have none here, and get the columns Name and Created At (TB-08).
//
// PrinterFor returns the printer of a built-in kind. CustomPrinter makes that of a custom resource
// from its definition, and CustomScalePrinter that of its Scale. Package encode calls them.
//
// Printers read objects of the storage version. On a real server these objects have defaults; where
// a cell shows a field with a default, the printer applies the default.
//
// Some cells show an age, which changes without the object. An encoded row contains the time
// itself, and AppendWithAges replaces it by the age, so that a row can be cached with its record.
package table
