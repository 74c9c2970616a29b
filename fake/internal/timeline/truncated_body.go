package timeline

import "regexp"

// truncatedBody is the beginning of a body and, if it is truncated, its end.
type truncatedBody struct {
	data []byte
	end  []byte // the last bytes of a truncated body, maxEnd of them
	size int64
}

// maxEnd is more than the size of the metadata of a list.
const maxEnd = 1 << 10

func (p *truncatedBody) add(b []byte) {
	p.size += int64(len(b))
	if room := MaxBodyBytes - len(p.data); room > 0 {
		p.data = append(p.data, b[:min(len(b), room)]...)
	}
	if p.size > MaxBodyBytes-maxEnd {
		p.addEnd(b)
	}
}

// addEnd adds bytes at the end, and drops earlier ones.
func (p *truncatedBody) addEnd(b []byte) {
	b = b[max(len(b)-maxEnd, 0):]
	if p.end == nil {
		p.end = make([]byte, 0, maxEnd)
	}
	drop := max(len(p.end)+len(b)-maxEnd, 0)
	p.end = append(append(p.end[:0], p.end[drop:]...), b...)
}

// listEnd matches the end of a list of custom resources, whose keys are in alphabetical order.
var listEnd = regexp.MustCompile(`\],"kind":"[^"]*","metadata":(\{[^{}]*\})\}\n?$`)

// listVersion returns the resourceVersion of a truncated list of custom resources in JSON, whose
// metadata follows its items, or "".
func (p *truncatedBody) listVersion() string {
	match := listEnd.FindSubmatch(p.end)
	if match == nil {
		return ""
	}
	return jsonInfo([]byte(`{"metadata":`+string(match[1])+`}`), "").ResourceVersion
}
