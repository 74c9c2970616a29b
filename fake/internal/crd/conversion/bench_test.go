package conversion

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func BenchmarkNew(b *testing.B) {
	client, dial := inMemory(b, hook(nil, nil))
	for name, crd := range map[string]func() (*Converter, error){
		"None":    func() (*Converter, error) { return New(definition(nil), dial, nil) },
		"Webhook": func() (*Converter, error) { return New(definition(client), dial, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, err := crd()
				require.NoError(b, err)
				c.Close()
			}
		})
	}
}

func BenchmarkConvert(b *testing.B) {
	inPipe, dial := inMemory(b, hook(nil, nil))
	onSocket, _ := onLoopback(b, hook(nil, nil))
	for name, c := range map[string]*Converter{
		"None":           converter(b, definition(nil), nil, nil),
		"Webhook/memory": converter(b, definition(inPipe), dial, nil),
		"Webhook/socket": converter(b, definition(onSocket), nil, nil),
	} {
		b.Run(name, func(b *testing.B) {
			objects := []*unstructured.Unstructured{widget(v1, "a")}
			b.ReportAllocs()
			for b.Loop() {
				_, err := c.Convert(b.Context(), objects, "v2")
				require.NoError(b, err)
			}
		})
	}
}
