package codec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	kindjson "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

// The kind of a decoded object is that which the library reads from its JSON. decodedKind leaves
// what is not usual to the library.
func TestDecodedKind(t *testing.T) {
	const usual = true
	for body, want := range map[string]bool{
		`{"apiVersion":"example.com/v1","kind":"Widget"}`:                               usual,
		`{"apiVersion":"v1","kind":"Widget","metadata":{"Kind":"x"}}`:                   usual,
		`{"kind":"Other","apiVersion":"v1","kind":"Widget"}`:                            usual,
		`{"kinds":"x","apiVersion":"v1","kind":"Widget"}`:                               usual,
		`{"Kind":"Other","apiVersion":"v1","kind":"Widget"}`:                            !usual,
		`{"apiVersion":"v1","kind":"Widget","APIversion":"v2"}`:                         !usual,
		"{\"apiVersion\":\"v1\",\"kind\":\"Widget\",\"\u212aind\":\"the Kelvin sign\"}": !usual,
		`{"apiVersion":"v1"}`:                       !usual,
		`{"apiVersion":"v1","kind":""}`:             !usual,
		`{"kind":"Widget"}`:                         !usual,
		`{"apiVersion":"v1","kind":1}`:              !usual,
		`{"apiVersion":"v1","kind":null}`:           !usual,
		`{"apiVersion":null,"kind":"Widget"}`:       !usual,
		`{"apiVersion":"a/b/c","kind":"Widget"}`:    !usual,
		`{"apiVersion":"/v1","kind":"Widget"}`:      usual,
		`{"apiVersion":"v1","kind":"Widget\ud800"}`: usual,
		`{}`: !usual,
	} {
		object, err := jsonvalue.Decode([]byte(body))
		require.NoError(t, err, body)
		got, ok := decodedKind(object)
		require.Equal(t, want, ok, body)
		library, err := kindjson.DefaultMetaFactory.Interpret([]byte(body))
		if ok {
			require.NoError(t, err, body)
			require.Equal(t, library, got, body)
			continue
		}
		got, gotErr := kindOf(object, []byte(body))
		require.Equal(t, library, got, body)
		if err != nil {
			require.Equal(t, fmt.Sprint(err), fmt.Sprint(gotErr), body)
		}
	}
}
