package represent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/memstore"
)

// listBuffer is how much of a list is gathered before it goes to the network.
const listBuffer = 64 << 10

// List writes a list of records. Items of a built-in list carry no kind and
// apiVersion of their own (LS-02), those of a PartialObjectMetadataList do.
func (p *Representation) List(w io.Writer, list metav1.ListMeta, items []*memstore.Record) error {
	switch {
	case p.out.Media == negotiate.Protobuf:
		return p.protobufList(w, list, items)
	case p.out.Media == negotiate.YAML || p.out.Pretty:
		var plain bytes.Buffer
		if err := p.jsonList(&plain, list, items); err != nil {
			return err
		}
		b, err := p.finish(plain.Bytes())
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	buffered := bufio.NewWriterSize(w, listBuffer)
	if err := p.jsonList(buffered, list, items); err != nil {
		return err
	}
	if err := buffered.WriteByte('\n'); err != nil {
		return err
	}
	return buffered.Flush()
}

// piecewise is what a list is written to: failures stay with the writer and
// show at the end.
type piecewise interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
}

func (p *Representation) jsonList(w piecewise, list metav1.ListMeta, items []*memstore.Record) error {
	kind := p.kind
	kind.Kind = p.listKind()
	metadata, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, _ = w.WriteString(head(kind))
	_, _ = w.WriteString(`"metadata":`)
	_, _ = w.Write(metadata)
	_, _ = w.WriteString(`,"items":[`)
	for i, rec := range items {
		body, err := p.body(rec)
		if err != nil {
			return err
		}
		if i > 0 {
			_ = w.WriteByte(',')
		}
		if p.out.Form != negotiate.Full {
			_, _ = w.WriteString(p.head)
			body = body[1:]
		}
		_, _ = w.Write(body)
	}
	_, err = w.WriteString("]}")
	return err
}

func (p *Representation) listKind() string {
	if p.out.Form != negotiate.Full {
		return "PartialObjectMetadataList"
	}
	return p.res.ListKind
}

func (p *Representation) protobufList(w io.Writer, list metav1.ListMeta, items []*memstore.Record) error {
	metadata, err := list.Marshal()
	if err != nil {
		return err
	}
	bodies := make([][]byte, len(items))
	size := codec.FieldSize(len(metadata))
	for i, rec := range items {
		if bodies[i], err = p.body(rec); err != nil {
			return err
		}
		size += codec.FieldSize(len(bodies[i]))
	}
	buffered := bufio.NewWriterSize(w, listBuffer)
	scratch := codec.AppendEnvelope(make([]byte, 0, 128), p.kind.GroupVersion().String(), p.listKind(), size)
	scratch = codec.AppendField(scratch, 1, len(metadata))
	_, _ = buffered.Write(scratch)
	_, _ = buffered.Write(metadata)
	for _, body := range bodies {
		_, _ = buffered.Write(codec.AppendField(scratch[:0], 2, len(body)))
		_, _ = buffered.Write(body)
	}
	_, _ = buffered.Write(codec.EnvelopeEnd())
	return buffered.Flush()
}

func yamlOf(b []byte) ([]byte, error) { return yaml.JSONToYAML(b) }
