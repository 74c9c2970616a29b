package lifecycle

import (
	"crypto/sha256"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// passedSize is how many definitions are remembered, 32 bytes for each.
const passedSize = 1024

// validCRDs are the new definitions that validation had nothing to say of in this process.
// The tests of one package start many servers with the same definitions, and to validate
// one compiles all of its CEL rules: some milliseconds each time, for the same answer.
var validCRDs = sync.OnceValue(func() *digests { return newDigests(passedSize) })

// digests remembers digests, the latest so many. It is safe for concurrent use.
type digests struct {
	mu    sync.Mutex // guards what follows
	known map[digest]bool
	order []digest // a ring: what next stands at is the oldest, once it is full
	next  int
}

type digest [sha256.Size]byte

func newDigests(size int) *digests {
	return &digests{known: make(map[digest]bool), order: make([]digest, 0, size)}
}

func (d *digests) has(one digest) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[one]
}

func (d *digests) add(one digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known[one] {
		return
	}
	d.known[one] = true
	if len(d.order) < cap(d.order) {
		d.order = append(d.order, one)
		return
	}
	delete(d.known, d.order[d.next])
	d.order[d.next] = one
	d.next = (d.next + 1) % len(d.order)
}

// crdDigest is the digest of all of a new definition that validation looks at: of the
// metadata it does not look at what the server gives each new object, nor at times. It
// is that of the protobuf encoding, in which the keys of maps are sorted.
func crdDigest(crd *apiextensionsv1.CustomResourceDefinition) (digest, error) {
	seen := *crd
	seen.UID, seen.ResourceVersion, seen.CreationTimestamp = types.UID(""), "", metav1.Time{}
	seen.ManagedFields = nil
	for _, entry := range crd.ManagedFields {
		entry.Time = nil
		seen.ManagedFields = append(seen.ManagedFields, entry)
	}
	data, err := seen.Marshal()
	return sha256.Sum256(data), err
}
