// Package table knows how objects are printed: the columns and cells of the
// meta.k8s.io Tables that kubectl get shows. The server makes them, so that a
// client can print types that it does not know.
//
// A type is a Printer in the file of its family (pod.go, workload.go, ...): its
// columns as data, and a function from the typed object to the cells. Names,
// types, formats, priorities and descriptions are those of
// k8s.io/kubernetes/pkg/printers/internalversion of v1.37, which is no module that
// could be imported; types without a printer there have none here, and get Name and
// Created At (TB-08).
//
// Who shows an object asks For by its kind, in one place: the Table of package
// represent. Types that are only known while the server runs, custom resources, have
// their columns in their definition: Custom makes their printer, CustomScale is that of
// their Scales.
//
// Cells are made of objects of the version that is stored. A real server has put
// defaults into them before; where a cell shows a field that has a default, so does
// the cell.
//
// Some cells tell how long ago something was, and so change without the object. An
// encoded row keeps the time itself, and At puts the words in its place: a row can
// be kept with the record it shows.
package table
