package codec

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ExceedsSize reports whether a YAML document with its aliases expanded has more than limit bytes.
// The libraries that decode it limit the number of nodes that aliases stand for, but not their
// size: 3,000 aliases of a string of one MB are 3 GB of JSON. It reports false for invalid YAML,
// and for documents with so many aliases that the libraries reject them, because their errors say
// more.
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
	var decoded any // the decoded value shares the strings of the document
	err := document.Decode(&decoded)
	return err == nil || !strings.Contains(err.Error(), "excessive aliasing")
}

// yamlSizer measures nodes. sizes has the size of each node with an anchor, up to a little more
// than limit.
type yamlSizer struct {
	limit int
	sizes map[*yaml.Node]int
}

// size returns the size of a node. An anchor precedes its aliases, so that it has been measured. An
// anchor inside itself counts as 0; the decoder rejects it.
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
