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
	// head opens the JSON of an object: its braces and its type. In CBOR it is the two pairs that
	// say the type.
	head string
	// piece names the encoding that is kept with a record, "" where that is
	// the stored form itself.
	piece string
	// asCustom tells that package codec makes and keeps the piece.
	asCustom bool
	// table makes rows, nil unless the form is a Table.
	table *tables
}

// NewEncoder makes the representation of r that a client accepted.
func NewEncoder(r *resource.Resource, out negotiate.Output) *Encoder {
	p := &Encoder{res: r, out: out, kind: r.GroupVersionKind()}
	if out.Form != negotiate.Full {
		p.kind = schema.GroupVersionKind{Group: metav1.GroupName, Version: "v1", Kind: "PartialObjectMetadata"}
		if out.Beta {
			p.kind.Version = "v1beta1"
		}
	}
	switch {
	case out.Form == negotiate.Table:
		p.kind.Kind = "Table"
	case out.Form != negotiate.Full && out.Media == negotiate.Protobuf:
		p.piece = "protobuf partial" + converted(r)
	case out.Form != negotiate.Full && out.Media == negotiate.CBOR:
		p.piece = "cbor partial" + converted(r)
	case out.Media == negotiate.CBOR:
		p.piece = "cbor " + r.Version + "." + r.Group + converted(r)
	case out.Form != negotiate.Full:
		p.piece = "json partial" + converted(r)
	case out.Media == negotiate.Protobuf:
		p.piece = "protobuf " + r.Version + "." + r.Group
	case r.Custom != nil:
		p.asCustom = true
	case r.GroupVersion() != r.StorageVersion:
		p.piece = "json " + r.Version + "." + r.Group
	}
	if out.Media == negotiate.CBOR {
		p.head = cborType(p.kind)
	} else {
		p.head = head(p.kind)
	}
	return p
}

// converted tells apart what is made of one record for different versions of a custom
// resource, or in the life of its definition.
func converted(r *resource.Resource) string {
	if r.Custom == nil {
		return ""
	}
	return " " + r.Custom.CacheKey()
}

func head(kind schema.GroupVersionKind) string {
	return `{"kind":"` + kind.Kind + `","apiVersion":"` + kind.GroupVersion().String() + `",`
}

// Media is the encoding of the representation.
func (p *Encoder) Media() negotiate.Media { return p.out.Media }

// ContentType is the Content-Type of an answer, or of a watch.
func (p *Encoder) ContentType(stream bool) string {
	return negotiate.ContentType(p.out.Media, stream)
}

// body is the record's piece: JSON or CBOR without its type, or a protobuf message.
func (p *Encoder) body(rec *memstore.Record) ([]byte, error) {
	if p.table != nil {
		return p.table.record(rec)
	}
	switch {
	case p.asCustom:
		return codec.Converted(p.res, rec)
	case p.piece == "":
		return rec.Data, nil
	}
	return rec.CachedEncoding(p.piece, func(rec *memstore.Record) ([]byte, error) {
		obj, err := codec.DecodeServed(p.res, rec)
		if err != nil {
			return nil, err
		}
		return p.encode(obj)
	})
}

// encode makes such a piece of an object of the served version.
func (p *Encoder) encode(obj runtime.Object) ([]byte, error) {
	if p.table != nil {
		return p.table.single(obj)
	}
	if p.out.Form != negotiate.Full {
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		obj = meta.AsPartialObjectMetadata(m)
	}
	switch untyped := codec.WithoutTypeMeta(obj); p.out.Media {
	case negotiate.Protobuf:
		return codec.Marshal(untyped)
	case negotiate.CBOR:
		return codec.MarshalCBOR(untyped)
	default:
		return json.Marshal(untyped)
	}
}

// EncodeRecord is the answer that shows one stored object.
func (p *Encoder) EncodeRecord(rec *memstore.Record) ([]byte, error) {
	body, err := p.body(rec)
	if err != nil {
		return nil, err
	}
	return p.whole(body)
}

// EncodeObject is the answer that shows an object which is not stored, of the served
// version.
func (p *Encoder) EncodeObject(obj runtime.Object) ([]byte, error) {
	body, err := p.encode(obj)
	if err != nil {
		return nil, err
	}
	return p.whole(body)
}

// whole makes an answer of a piece.
func (p *Encoder) whole(body []byte) ([]byte, error) {
	if p.out.Media == negotiate.CBOR {
		return p.wrapCBOR(nil, body)
	}
	return p.finish(p.wrap(nil, body))
}

// wrap puts the type around a piece.
func (p *Encoder) wrap(b, body []byte) []byte {
	if p.out.Media == negotiate.Protobuf {
		b = codec.AppendEnvelope(b, p.kind.GroupVersion().String(), p.kind.Kind, len(body))
		b = append(b, body...)
		return append(b, codec.EnvelopeEnd()...)
	}
	if b == nil {
		b = make([]byte, 0, len(p.head)+len(body)+1)
	}
	b = append(b, p.head...)
	return append(b, body[1:]...)
}

func (p *Encoder) finish(b []byte) ([]byte, error) { return finish(p.out, b) }

// finish makes of JSON what the client accepted: one line, indented, or YAML.
func finish(out negotiate.Output, b []byte) ([]byte, error) {
	switch {
	case out.Media == negotiate.Protobuf, out.Media == negotiate.CBOR:
		return b, nil
	case out.Media == negotiate.YAML:
		return yamlOf(b)
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
		message, err := codec.Marshal(obj)
		if err != nil {
			return nil, err
		}
		kind := obj.GetObjectKind().GroupVersionKind()
		return codec.Envelope(kind.GroupVersion().String(), kind.Kind, message), nil
	case negotiate.CBOR:
		return cborDocument(nil, obj)
	}
	b, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return finish(out, b)
}
