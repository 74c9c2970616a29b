package requestinfo

import (
	"net/url"
	"strings"
)

// Redacted replaces secrets in texts that people read, as in the output of kubectl config view. It
// is also valid base64.
const Redacted = "REDACTED"

// RedactURI returns a URL or a path with its query, without the bearer tokens of the query
// parameter access_token (RFC 6750, section 2.3) and without the password before the host.
func RedactURI(uri string) string {
	if _, after, ok := strings.Cut(uri, "://"); ok && strings.Contains(after, "@") {
		if u, err := url.Parse(uri); err == nil {
			uri = u.Redacted()
		}
	}
	path, query, ok := strings.Cut(uri, "?")
	if !ok || !hasToken(query) {
		return uri
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		if name, value, _ := strings.Cut(part, "="); value != "" && hasToken(name) {
			parts[i] = name + "=" + Redacted
		}
	}
	return path + "?" + strings.Join(parts, "&")
}

// hasToken reports whether a query, or the name of a parameter, has the name access_token in it.
func hasToken(query string) bool {
	if strings.Contains(query, "%") {
		if plain, err := url.PathUnescape(query); err == nil {
			query = plain
		}
	}
	return strings.Contains(strings.ToLower(query), "access_token")
}
