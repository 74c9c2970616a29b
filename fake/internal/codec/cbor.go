package codec

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	codecs "k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// A CBOR body is the mark of self-described CBOR (CB-03) and a map. Like those of protobuf, answers are
// put together from pieces that are encoded once: an object without its kind and apiVersion is a map
// whose head is written anew, with a larger count.
const cborSelfDescribe = "\xd9\xd9\xf7"

// The major types of the heads that are written here (RFC 8949, 3.1).
const (
	cborArray = 4
	cborMap   = 5
)

// MarshalCBOR encodes a value as apimachinery's serializer does, without the mark.
func MarshalCBOR(v any) ([]byte, error) { return direct.Marshal(v) }

// EncodeCBORStrings is what one map after the other begins with: its keys and values in turn, encoded.
func EncodeCBORStrings(keysAndValues ...string) ([]byte, error) {
	var b []byte
	for _, s := range keysAndValues {
		item, err := direct.Marshal(s)
		if err != nil {
			return nil, err
		}
		b = append(b, item...)
	}
	return b, nil
}

// AppendCBORSelfDescribe appends what stands in front of a whole body, of a frame and of the object in it.
func AppendCBORSelfDescribe(b []byte) []byte { return append(b, cborSelfDescribe...) }

// AppendCBORMap and AppendCBORArray append the head of a map of n pairs and of an array of n items.
func AppendCBORMap(b []byte, n int) []byte   { return appendCBORHead(b, cborMap, n) }
func AppendCBORArray(b []byte, n int) []byte { return appendCBORHead(b, cborArray, n) }

// AppendCBORNull appends null.
func AppendCBORNull(b []byte) []byte { return append(b, 0xf6) }

func appendCBORHead(b []byte, major byte, n int) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= 0xff:
		return append(b, major|24, byte(n))
	case n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
}

// AppendCBORMapWithPairs appends a map with pairs in front of its own.
func AppendCBORMapWithPairs(b, pairs []byte, count int, item []byte) ([]byte, error) {
	n, inside, err := splitCBORMap(item)
	if err != nil {
		return b, err
	}
	b = appendCBORHead(b, cborMap, n+count)
	b = append(b, pairs...)
	return append(b, inside...), nil
}

// splitCBORMap gives the number of pairs in a map, and those.
func splitCBORMap(item []byte) (n int, pairs []byte, err error) {
	if len(item) > 1 && item[0] == cborMap<<5|24 {
		return int(item[1]), item[2:], nil
	}
	if len(item) > 0 && item[0]>>5 == cborMap && item[0]&0x1f < 24 {
		return int(item[0] & 0x1f), item[1:], nil
	}
	return 0, nil, fmt.Errorf("an object is no map in CBOR: %s", summary(item))
}

// CBORToJSON gives the JSON of a configuration in CBOR. Errors are those of the decoder.
func CBORToJSON(body []byte) ([]byte, error) {
	var value map[string]any
	if err := direct.Unmarshal(body, &value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// OptionsCodecs gives the codecs of the options that come in a body. Those of apimachinery know no CBOR.
func OptionsCodecs() codecs.CodecFactory { return options() }

var options = sync.OnceValue(func() codecs.CodecFactory {
	return codecs.NewCodecFactory(metainternal.Scheme, codecs.WithSerializer(cbor.NewSerializerInfo))
})
