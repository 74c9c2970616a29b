package encode

import (
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Decorate lets the decorator of the resource, if it has one, change the objects of responses. It
// is called after SetTableOptions.
func (e *Encoder) Decorate() {
	e.decorated = true
	if t := e.table; t != nil && t.object != nil {
		t.object.Decorate()
	}
	if e.decorator() != nil && e.cacheKey != "" {
		e.cacheKey += " decorated"
	}
}

// decorator returns the decorator of objects before they are encoded, nil for most types. Metadata
// is not decorated.
func (e *Encoder) decorator() *resource.Decorator {
	if !e.decorated || e.out.Form != negotiate.Full {
		return nil
	}
	return e.res.Decorator
}

// isDecorated reports whether the decorator may change the object of a record.
func (e *Encoder) isDecorated(rec *memstore.Record) bool {
	d := e.decorator()
	if d == nil {
		return false
	}
	value, _ := rec.Fields.Get(d.Field)
	return value == d.Value
}
