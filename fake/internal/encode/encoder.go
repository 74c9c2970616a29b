// Package represent turns stored records into the bytes of an answer: one
// object, a list, a watch event, each in JSON, YAML, protobuf or CBOR, whole, as
// PartialObjectMetadata or as a Table. It puts stored or once-encoded pieces together and
// decodes only what it has never been asked for before.
package encode

import (
	"bytes"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Encoder is one resource in the form one client accepted.
type Encoder struct {
	res  *resource.Resource
	out  negotiate.Output
	kind schema.GroupVersionKind
	// typeMeta opens the JSON of an object: its braces and its type. In CBOR it is the two pairs that
	// say the type.
	typeMeta string
	// cacheKey names the encoding that is kept with a record, "" where that is
	// the stored form itself.
	cacheKey string
	// customJSON tells that package codec makes and keeps the piece.
	customJSON bool
	// table makes rows, nil unless the form is a Table.
	table *tableEncoder
}

// NewEncoder makes the representation of r that a client accepted.
func NewEncoder(r *resource.Resource, out negotiate.Output) *Encoder {
	e := &Encoder{res: r, out: out, kind: r.GroupVersionKind()}
	if out.Form != negotiate.Full {
		e.kind = schema.GroupVersionKind{Group: metav1.GroupName, Version: "v1", Kind: "PartialObjectMetadata"}
		if out.Beta {
			e.kind.Version = "v1beta1"
		}
	}
	switch {
	case out.Form == negotiate.Table:
		e.kind.Kind = "Table"
	case out.Form != negotiate.Full && out.Media == negotiate.Protobuf:
		e.cacheKey = "protobuf partial" + conversionCacheKey(r)
	case out.Form != negotiate.Full && out.Media == negotiate.CBOR:
		e.cacheKey = "cbor partial" + conversionCacheKey(r)
	case out.Media == negotiate.CBOR:
		e.cacheKey = "cbor " + r.Version + "." + r.Group + conversionCacheKey(r)
	case out.Form != negotiate.Full:
		e.cacheKey = "json partial" + conversionCacheKey(r)
	case out.Media == negotiate.Protobuf:
		e.cacheKey = "protobuf " + r.Version + "." + r.Group
	case r.Custom != nil:
		e.customJSON = true
	case r.GroupVersion() != r.StorageVersion:
		e.cacheKey = "json " + r.Version + "." + r.Group
	}
	if out.Media == negotiate.CBOR {
		e.typeMeta = cborTypeMeta(e.kind)
	} else {
		e.typeMeta = typeMetaJSON(e.kind)
	}
	return e
}

// conversionCacheKey tells apart what is made of one record for different versions of a custom
// resource, or in the life of its definition.
func conversionCacheKey(r *resource.Resource) string {
	if r.Custom == nil {
		return ""
	}
	return " " + r.Custom.CacheKey()
}

func typeMetaJSON(kind schema.GroupVersionKind) string {
	return `{"kind":"` + kind.Kind + `","apiVersion":"` + kind.GroupVersion().String() + `",`
}

// Media is the encoding of the representation.
func (e *Encoder) Media() negotiate.Media { return e.out.Media }

// ContentType is the Content-Type of an answer, or of a watch.
func (e *Encoder) ContentType(stream bool) string {
	return negotiate.ContentType(e.out.Media, stream)
}

// recordBody is the record's piece: JSON or CBOR without its type, or a protobuf message.
func (e *Encoder) recordBody(rec *memstore.Record) ([]byte, error) {
	if e.table != nil {
		return e.table.encodeRecord(rec)
	}
	switch {
	case e.customJSON:
		return codec.ConvertedJSON(e.res, rec)
	case e.cacheKey == "":
		return rec.Data, nil
	}
	return rec.CachedEncoding(e.cacheKey, func(rec *memstore.Record) ([]byte, error) {
		obj, err := codec.DecodeServed(e.res, rec)
		if err != nil {
			return nil, err
		}
		return e.encodeBody(obj)
	})
}

// encodeBody makes such a piece of an object of the served version.
func (e *Encoder) encodeBody(obj runtime.Object) ([]byte, error) {
	if e.table != nil {
		return e.table.encodeObject(obj)
	}
	if e.out.Form != negotiate.Full {
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		obj = meta.AsPartialObjectMetadata(m)
	}
	switch untyped := codec.WithoutTypeMeta(obj); e.out.Media {
	case negotiate.Protobuf:
		return codec.MarshalProtobuf(untyped)
	case negotiate.CBOR:
		return codec.MarshalCBOR(untyped)
	default:
		return json.Marshal(untyped)
	}
}

// EncodeRecord is the answer that shows one stored object.
func (e *Encoder) EncodeRecord(rec *memstore.Record) ([]byte, error) {
	body, err := e.recordBody(rec)
	if err != nil {
		return nil, err
	}
	return e.formatBody(body)
}

// EncodeObject is the answer that shows an object which is not stored, of the served
// version.
func (e *Encoder) EncodeObject(obj runtime.Object) ([]byte, error) {
	body, err := e.encodeBody(obj)
	if err != nil {
		return nil, err
	}
	return e.formatBody(body)
}

// formatBody makes an answer of a piece.
func (e *Encoder) formatBody(body []byte) ([]byte, error) {
	if e.out.Media == negotiate.CBOR {
		return e.addCBORTypeMeta(nil, body)
	}
	return e.format(e.addTypeMeta(nil, body))
}

// addTypeMeta puts the type around a piece.
func (e *Encoder) addTypeMeta(b, body []byte) []byte {
	if e.out.Media == negotiate.Protobuf {
		b = codec.AppendEnvelope(b, e.kind.GroupVersion().String(), e.kind.Kind, len(body))
		b = append(b, body...)
		return append(b, codec.EnvelopeEnd()...)
	}
	if b == nil {
		b = make([]byte, 0, len(e.typeMeta)+len(body)+1)
	}
	b = append(b, e.typeMeta...)
	return append(b, body[1:]...)
}

func (e *Encoder) format(b []byte) ([]byte, error) { return formatDocument(e.out, b) }

// formatDocument makes of JSON what the client accepted: one line, indented, or YAML.
func formatDocument(out negotiate.Output, b []byte) ([]byte, error) {
	switch {
	case out.Media == negotiate.Protobuf, out.Media == negotiate.CBOR:
		return b, nil
	case out.Media == negotiate.YAML:
		return jsonToYAML(b)
	case out.Pretty:
		var indented bytes.Buffer
		if err := json.Indent(&indented, b, "", "  "); err != nil {
			return nil, err
		}
		return indented.Bytes(), nil
	}
	return append(b, '\n'), nil
}

// EncodeDocument is an answer that is no stored object: a Status, discovery.
func EncodeDocument(out negotiate.Output, obj runtime.Object) ([]byte, error) {
	switch out.Media {
	case negotiate.Protobuf:
		message, err := codec.MarshalProtobuf(obj)
		if err != nil {
			return nil, err
		}
		kind := obj.GetObjectKind().GroupVersionKind()
		return codec.Envelope(kind.GroupVersion().String(), kind.Kind, message), nil
	case negotiate.CBOR:
		return appendCBORDocument(nil, obj)
	}
	b, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return formatDocument(out, b)
}
