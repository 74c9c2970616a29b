package codec

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ExceedsSize reports whether a document in YAML, with its aliases written out, has more than most
// bytes. The libraries that decode it bound how many nodes aliases stand for, but not how large
// these are: 3,000 aliases of a string of a MB are 3 GB of JSON. What is no YAML does not exceed
// anything, nor does what has so many aliases that the libraries refuse it: they tell what is wrong.
func ExceedsSize(body []byte, most int) bool {
	if !bytes.Contains(body, []byte("&")) || !bytes.Contains(body, []byte("*")) {
		return len(body) > most
	}
	var document yaml.Node
	if err := yaml.Unmarshal(body, &document); err != nil {
		return false
	}
	m := measure{most: most, sizes: map[*yaml.Node]int{}}
	if m.of(&document) <= most {
		return false
	}
	var decoded any // shares its strings
	err := document.Decode(&decoded)
	return err == nil || !strings.Contains(err.Error(), "excessive aliasing")
}

// measure knows how long nodes are that have an anchor, up to a little more than most.
type measure struct {
	most  int
	sizes map[*yaml.Node]int
}

// of is the length of a node. An anchor stands in front of its aliases, so that it has been
// measured; one inside of itself counts as nothing, and the decoder refuses it.
func (m measure) of(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		return m.sizes[n.Alias]
	}
	size := len(n.Value) + 1
	for _, child := range n.Content {
		if size += m.of(child); size > m.most {
			break
		}
	}
	if n.Anchor != "" {
		m.sizes[n] = size
	}
	return size
}
