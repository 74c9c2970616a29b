package lifecycle

import (
	"crypto/sha256"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
)

// maxValidCRDs is the number of digests in validCRDs, of 32 bytes each.
const maxValidCRDs = 1024

// validCRDs has the digests of CustomResourceDefinitions that Validate found valid in this process.
// The tests of a package start many servers with the same definitions, and each validation compiles
// all CEL rules, which takes several milliseconds.
var validCRDs = sync.OnceValue(func() *lru.Cache { return lru.New(maxValidCRDs) })

type digest [sha256.Size]byte

// crdDigest returns the digest of everything that the validation of a new definition reads. It
// leaves out the metadata that the server sets on each new object, and times. It hashes the
// protobuf encoding, in which the keys of maps are sorted.
func crdDigest(crd *apiextensionsv1.CustomResourceDefinition) (digest, error) {
	hashed := *crd
	hashed.UID, hashed.ResourceVersion, hashed.CreationTimestamp = "", "", metav1.Time{}
	hashed.ManagedFields = nil
	for _, entry := range crd.ManagedFields {
		entry.Time = nil
		hashed.ManagedFields = append(hashed.ManagedFields, entry)
	}
	data, err := hashed.Marshal()
	return sha256.Sum256(data), err
}
