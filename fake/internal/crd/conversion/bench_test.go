package conversion

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fakeapi/fake/internal/webhookclient"
)

func BenchmarkNew(b *testing.B) {
	client, dial := startInMemory(b, newWebhook(nil, nil))
	for name, crd := range map[string]func() (*Converter, error){
		"None":    func() (*Converter, error) { return New(newCRD(nil), webhookclient.Network{Dial: dial}) },
		"Webhook": func() (*Converter, error) { return New(newCRD(client), webhookclient.Network{Dial: dial}) },
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
	inPipe, dial := startInMemory(b, newWebhook(nil, nil))
	onSocket, _ := startOnLoopback(b, newWebhook(nil, nil))
	for name, c := range map[string]*Converter{
		"None":           newConverter(b, newCRD(nil), nil, nil),
		"Webhook/memory": newConverter(b, newCRD(inPipe), dial, nil),
		"Webhook/socket": newConverter(b, newCRD(onSocket), nil, nil),
	} {
		b.Run(name, func(b *testing.B) {
			objects := []*unstructured.Unstructured{newWidget(v1, "a")}
			b.ReportAllocs()
			for b.Loop() {
				_, err := c.Convert(b.Context(), objects, "v2")
				require.NoError(b, err)
			}
		})
	}
}
