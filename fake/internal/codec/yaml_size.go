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
func ExceedsSize(body []byte, limit int) bool {
	if !bytes.Contains(body, []byte("&")) || !bytes.Contains(body, []byte("*")) {
		return len(body) > limit
	}
	var document yaml.Node
	if err := yaml.Unmarshal(body, &document); err != nil {
		return false
	}
	m := yamlSizer{limit: limit, sizes: map[*yaml.Node]int{}}
	if m.size(&document) <= limit {
		return false
	}
	var decoded any // shares its strings
	err := document.Decode(&decoded)
	return err == nil || !strings.Contains(err.Error(), "excessive aliasing")
}

// yamlSizer knows how long nodes are that have an anchor, up to a little more than most.
type yamlSizer struct {
	limit int
	sizes map[*yaml.Node]int
}

// size is the length of a node. An anchor stands in front of its aliases, so that it has been
// measured; one inside of itself counts as nothing, and the decoder refuses it.
func (m yamlSizer) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		return m.sizes[n.Alias]
	}
	size := len(n.Value) + 1
	for _, child := range n.Content {
		if size += m.size(child); size > m.limit {
			break
		}
	}
	if n.Anchor != "" {
		m.sizes[n] = size
	}
	return size
}
