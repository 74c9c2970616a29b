package httpdiff

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// placeholderText matches the placeholders in a text. Other words with a dollar sign are plain
// text.
var placeholderText = regexp.MustCompile(`\$(?:` +
	`continue\([^)]*\)|token\([^)]*\)|(?:rv|uid|rand|num|hash|etag)\d+|` +
	`(?:ns|hooksURL|hooksHost|hooksCA|time|microtime|revision|age|opaque|storageVersionHash|serverAddress|buildDate|goVersion|gitCommit|gitVersion|platform|compiler)\b)`)

// className matches the class at the beginning of a placeholder.
var className = regexp.MustCompile(`^\$([a-zA-Z]+)`)

// valuePattern maps classes to the pattern of their values. Other classes match any non-empty text.
var valuePattern = map[string]string{
	"rv":        `\d+`,
	"uid":       uidText,
	"rand":      `[a-z0-9]{5}`,
	"num":       `\d+`,
	"revision":  `\d+`,
	"hash":      `[0-9A-Za-z]+`,
	"continue":  `\S+`,
	"time":      timeText + `(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`,
	"microtime": timeText + `\.\d{6}(?:Z|[+-]\d\d:\d\d)`,
	"age":       `(?:\d+[smhdy])+`,
}

// Patterns of a uid, and of a time up to its seconds.
const (
	uidText  = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
	timeText = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`
)

// Placeholders holds the values of a case's placeholders on one server.
type Placeholders struct {
	compareRV bool
	fixed     map[string]string  // values of placeholders that are known from the start
	values    map[string]string  // by placeholder
	names     map[binding]string // the first placeholder with the value
}

type binding struct{ class, value string }

// NewPlaceholders returns Placeholders without values, except for the namespace. With compareRV,
// resourceVersions must be equal on the right where they are equal on the left; otherwise any
// number matches.
func NewPlaceholders(namespace string, compareRV bool) *Placeholders {
	return &Placeholders{
		compareRV: compareRV, fixed: map[string]string{"$ns": namespace}, values: map[string]string{}, names: map[binding]string{},
	}
}

// Fix sets the value of a placeholder that no response has to contain, such as $hooksURL.
func (p *Placeholders) Fix(symbol, value string) { p.fixed[symbol] = value }

// Expand replaces the placeholders of a request by their values. It returns an error if a
// placeholder has no value, because no response contained it.
func (p *Placeholders) Expand(text string) (string, error) {
	var missing error
	expanded := placeholderText.ReplaceAllStringFunc(text, func(symbol string) string {
		if value, ok := p.fixed[symbol]; ok {
			return value
		}
		if token, ok := strings.CutPrefix(symbol, "$token("); ok {
			return p.continueToken(strings.TrimSuffix(token, ")"))
		}
		value, ok := p.values[symbol]
		if !ok {
			missing = fmt.Errorf("no response so far contained %s", symbol)
		}
		if strings.HasPrefix(symbol, "$continue(") {
			return url.QueryEscape(value)
		}
		return value
	})
	return expanded, missing
}

// continueToken encodes a continue token from "v=V rv=RV start=START". START is already escaped for
// JSON.
func (p *Placeholders) continueToken(parts string) string {
	version, rest, _ := strings.Cut(strings.TrimPrefix(parts, "v="), " rv=")
	revision, start, _ := strings.Cut(rest, " start=")
	start = strings.ReplaceAll(start, "$ns", p.fixed["$ns"])
	return base64.RawURLEncoding.EncodeToString(
		fmt.Appendf(nil, `{"v":"%s","rv":%s,"start":"%s"}`, version, revision, start))
}

// Match compares a text of the left side with one of the right side and binds new placeholders.
// contradiction describes a placeholder that is bound to a different value already.
func (p *Placeholders) Match(left, right string) (contradiction string, same bool) {
	if !placeholderText.MatchString(left) {
		return "", left == right
	}
	pattern, found := p.pattern(left)
	values := regexp.MustCompile(pattern).FindStringSubmatch(right)
	if values == nil {
		return "", false
	}
	for i, symbol := range found {
		if contradiction := p.bind(symbol, values[i+1]); contradiction != "" {
			return contradiction, false
		}
	}
	return "", true
}

// pattern returns a regular expression for a text of the left side, with a group for each
// placeholder except $ns, and these placeholders.
func (p *Placeholders) pattern(left string) (pattern string, found []string) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	at := 0
	for _, place := range placeholderText.FindAllStringIndex(left, -1) {
		b.WriteString(regexp.QuoteMeta(left[at:place[0]]))
		symbol := left[place[0]:place[1]]
		at = place[1]
		if value, ok := p.fixed[symbol]; ok {
			b.WriteString(regexp.QuoteMeta(value))
			continue
		}
		value := valuePattern[classOf(symbol)]
		if value == "" {
			value = `.+`
		}
		b.WriteString("(" + value + ")")
		found = append(found, symbol)
	}
	b.WriteString(regexp.QuoteMeta(left[at:]) + `\z`)
	return b.String(), found
}

func classOf(symbol string) string { return className.FindStringSubmatch(symbol)[1] }

// bind stores the value of a new placeholder. It returns a description of the contradiction if the
// value does not match the known ones.
func (p *Placeholders) bind(symbol, value string) string {
	class := classOf(symbol)
	switch class {
	case "continue": // later requests use the latest token
		p.values[symbol] = value
		return ""
	case "rv", "uid", "rand", "num", "hash", "etag":
	default: // times and similar classes: only the format is checked
		return ""
	}
	exact := class == "uid" || class == "rand" || class == "num" || class == "rv" && p.compareRV
	known, bound := p.values[symbol]
	if bound {
		if exact && known != value {
			return fmt.Sprintf("%s was %s and is now %s", symbol, known, value)
		}
		return ""
	}
	p.values[symbol] = value
	if other, taken := p.names[binding{class, value}]; taken && exact {
		return fmt.Sprintf("%s and %s are both %s", other, symbol, value)
	}
	p.names[binding{class, value}] = symbol
	return ""
}
