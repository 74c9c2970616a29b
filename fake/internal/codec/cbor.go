package codec

import (
	"encoding/binary"
	"fmt"
	"sync"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	codecs "k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"example.com/fakeapi/internal/frames"
)

// A CBOR body is frames.CBORSelfDescribedTag and a map (CB-03). As in protobuf, responses are
// assembled from parts that are encoded once. An object is cached as a map without kind and
// apiVersion, and its head is replaced by one with a larger count.

// Major types of CBOR heads (RFC 8949, section 3.1).
const (
	cborArray = 4
	cborMap   = 5
)

// MarshalCBOR encodes a value as apimachinery's serializer does, without the self-describe tag.
func MarshalCBOR(v any) ([]byte, error) { return direct.Marshal(v) }

// EncodeCBORStrings returns the encoded strings one after the other, as the pairs of a map.
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

// AppendCBORSelfDescribe appends the tag that begins a body, a frame of a watch, and the object in
// a frame.
func AppendCBORSelfDescribe(b []byte) []byte { return append(b, frames.CBORSelfDescribedTag...) }

// AppendCBORMap and AppendCBORArray append the head of a map with n pairs, and of an array with n
// items.
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

// AppendCBORMapWithPairs appends item, an encoded map, with pairs inserted at its beginning. count
// is the number of pairs.
func AppendCBORMapWithPairs(b, pairs []byte, count int, item []byte) ([]byte, error) {
	n, inside, err := splitCBORMap(item)
	if err != nil {
		return b, err
	}
	b = appendCBORHead(b, cborMap, n+count)
	b = append(b, pairs...)
	return append(b, inside...), nil
}

// splitCBORMap returns the number of pairs of an encoded map, and the encoded pairs.
func splitCBORMap(item []byte) (n int, pairs []byte, err error) {
	if len(item) == 0 || item[0]>>5 != cborMap {
		return 0, nil, fmt.Errorf("the encoded object is not a CBOR map: %s", summary(item))
	}
	switch n, rest := int(item[0]&0x1f), item[1:]; {
	case n < 24:
		return n, rest, nil
	case n == 24 && len(rest) >= 1:
		return int(rest[0]), rest[1:], nil
	case n == 25 && len(rest) >= 2:
		return int(binary.BigEndian.Uint16(rest)), rest[2:], nil
	case n == 26 && len(rest) >= 4:
		return int(binary.BigEndian.Uint32(rest)), rest[4:], nil
	}
	return 0, nil, fmt.Errorf("the length of an encoded CBOR map is not supported: %s", summary(item))
}

// UnmarshalCBORMap decodes a CBOR map.
func UnmarshalCBORMap(body []byte) (map[string]any, error) {
	var value map[string]any
	err := direct.Unmarshal(body, &value)
	return value, err
}

// OptionsCodecs returns the codecs for options in request bodies. Those of apimachinery do not
// include CBOR.
func OptionsCodecs() codecs.CodecFactory { return options() }

var options = sync.OnceValue(func() codecs.CodecFactory {
	return codecs.NewCodecFactory(metainternal.Scheme, codecs.WithSerializer(cbor.NewSerializerInfo))
})
