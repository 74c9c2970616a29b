package httpdiff

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Compare compares a value of the left side, whose strings may contain placeholders, with one of
// the right side. Both must be values as returned by Decode. It adds the differences to d, with
// paths that begin with at.
func (p *Placeholders) Compare(at string, left, right any, d *Differences) {
	switch left := left.(type) {
	case map[string]any:
		if right, ok := right.(map[string]any); ok {
			p.compareObjects(at, left, right, d)
			return
		}
	case []any:
		if right, ok := right.([]any); ok {
			p.compareArrays(at, left, right, d)
			return
		}
	case string:
		if right, ok := right.(string); ok {
			p.CompareText(at, left, right, d)
			return
		}
	default: // json.Number, bool, nil
		if left == right {
			return
		}
	}
	d.Add(at, left, right)
}

// CompareText is like Compare for strings.
func (p *Placeholders) CompareText(at, left, right string, d *Differences) {
	switch contradiction, same := p.Match(left, right); {
	case contradiction != "":
		d.Addf(at, "%s", contradiction)
	case !same:
		d.Add(at, left, right)
	}
}

func (p *Placeholders) compareObjects(at string, left, right map[string]any, d *Differences) {
	met := map[string]bool{}
	for _, k := range sortedKeys(left) {
		key := p.findKey(k, right)
		met[key] = true
		if value, ok := right[key]; ok {
			p.Compare(at+"."+k, left[k], value, d)
		} else {
			d.missing(at+"."+k, left[k])
		}
	}
	for _, k := range sortedKeys(right) {
		if !met[k] {
			d.unexpected(at+"."+k, right[k])
		}
	}
}

// findKey returns the key of right that matches left, which may contain placeholders.
func (p *Placeholders) findKey(left string, right map[string]any) string {
	if _, same := right[left]; same || !placeholderText.MatchString(left) {
		return left
	}
	for _, k := range sortedKeys(right) {
		if contradiction, same := p.Match(left, k); same && contradiction == "" {
			return k
		}
	}
	return left
}

func (p *Placeholders) compareArrays(at string, left, right []any, d *Differences) {
	if len(left) == len(right) {
		for i := range left {
			p.Compare(fmt.Sprintf("%s[%d]", at, i), left[i], right[i], d)
		}
		return
	}
	note := fmt.Sprintf("%d items for %d", len(right), len(left))
	*d = append(*d, Difference{At: at, Left: Short(left), Right: Short(right), Note: note})
	if haveUniqueNames(left) && haveUniqueNames(right) {
		p.compareNamed(at, left, right, d)
		return
	}
	for i := range min(len(left), len(right)) {
		p.Compare(fmt.Sprintf("%s[%d]", at, i), left[i], right[i], d)
	}
}

// compareNamed compares items with the same name, so that one missing item does not make all items
// after it differ.
func (p *Placeholders) compareNamed(at string, left, right []any, d *Differences) {
	met := map[int]bool{}
	for i, item := range left {
		place := fmt.Sprintf("%s[%d]", at, i)
		j := slices.IndexFunc(right, func(other any) bool { return itemName(other) == itemName(item) })
		if j < 0 {
			d.missing(place, item)
			continue
		}
		met[j] = true
		p.Compare(place, item, right[j], d)
	}
	for j, item := range right {
		if !met[j] {
			d.unexpected(fmt.Sprintf("%s[%d]", at, j), item)
		}
	}
}

// haveUniqueNames reports whether all items have different names.
func haveUniqueNames(items []any) bool {
	seen := map[string]bool{}
	for _, item := range items {
		name := itemName(item)
		if name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// itemName returns the string itself, or the name of an object, resource, version or similar item.
func itemName(item any) string {
	switch item := item.(type) {
	case string:
		return item
	case map[string]any:
		if metadata, ok := item["metadata"].(map[string]any); ok {
			return itemName(metadata)
		}
		for _, key := range []string{"name", "resource", "subresource", "groupVersion", "version", "field"} {
			if name, ok := item[key].(string); ok && name != "" {
				return name
			}
		}
	}
	return ""
}

// CompareHeaders compares the headers in names. It reads the other headers of the left side only
// for placeholder values.
func (p *Placeholders) CompareHeaders(names []string, left map[string][]string, right http.Header, d *Differences) {
	for _, name := range names {
		if values := right.Values(name); len(left[name]) == 0 && len(values) > 0 {
			d.unexpected("header "+name, values)
		}
	}
	for _, name := range sortedKeys(left) {
		var found Differences
		if values := right.Values(name); len(values) == 0 {
			found.missing("header "+name, left[name])
		} else {
			p.CompareText("header "+name, strings.Join(left[name], " | "), strings.Join(values, " | "), &found)
		}
		if slices.Contains(names, name) {
			*d = append(*d, found...)
		}
	}
}
