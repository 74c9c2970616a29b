package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// defaultPullPolicy returns the pull policy of an image: Always if its tag is latest, by name or
// because it has neither a tag nor a digest. It is IfNotPresent for a text that is not the name of
// an image.
func defaultPullPolicy(image string) corev1.PullPolicy {
	name, tag, digest := splitImage(image)
	if tag == "latest" || tag == "" && digest == "" {
		if isImageName(name) && !isHexID(image) && (digest == "" || isDigest(digest)) {
			return corev1.PullAlways
		}
	}
	return corev1.PullIfNotPresent
}

// splitImage splits NAME[:TAG][@DIGEST]. A tag that is empty, as in "name:", is part of the name.
func splitImage(image string) (name, tag, digest string) {
	name, digest, found := strings.Cut(image, "@")
	if found && digest == "" {
		return image, "", ""
	}
	path := strings.LastIndexByte(name, '/') + 1
	if colon := strings.IndexByte(name[path:], ':'); colon >= 0 && path+colon+1 < len(name) {
		name, tag = name[:path+colon], name[path+colon+1:]
	}
	return name, tag, digest
}

// isImageName reports whether a text is the name of a repository: path components, and before them
// a host with a port if the first component has a dot, a colon or upper case, or is localhost. What
// cannot be a host is part of the path. The host is docker.io by default, where a path of one
// component is that of an official image.
func isImageName(name string) bool {
	host, path, found := strings.Cut(name, "/")
	if !found || !strings.ContainsAny(host, ".:") && host != "localhost" && strings.ToLower(host) == host {
		host, path = "docker.io", name
	}
	switch official := !strings.Contains(path, "/"); {
	case official && (host == "docker.io" || host == "index.docker.io"):
		path = "library/" + path
	case !isImageHost(host):
		path = name
	}
	const maxLength = 255
	if len(path) > maxLength {
		return false
	}
	for component := range strings.SplitSeq(path, "/") {
		if !isPathComponent(component) {
			return false
		}
	}
	return true
}

// isImageHost reports whether a text is HOST or HOST:PORT. The host is a domain name, an IPv4
// address or an IPv6 address in brackets.
func isImageHost(host string) bool {
	if address, rest, found := strings.Cut(host, "]"); found {
		return strings.HasPrefix(address, "[") && isMadeOf(address[1:], "0123456789abcdefABCDEF:") &&
			(rest == "" || rest[0] == ':' && isMadeOf(rest[1:], digits))
	}
	host, port, found := strings.Cut(host, ":")
	if found && !isMadeOf(port, digits) {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || !isMadeOf(label, digits+lower+upper+"-") {
			return false
		}
	}
	return true
}

// isPathComponent reports whether a text is made of lower case letters and digits, and of single
// separators between them: a dot, one or two underscores, or any number of dashes.
func isPathComponent(s string) bool {
	last := len(s)
	for i := 0; i < len(s); {
		if strings.IndexByte(digits+lower, s[i]) >= 0 {
			i, last = i+1, i+1
			continue
		}
		end := i
		for end < len(s) && s[end] == s[i] {
			end++
		}
		if i == 0 || end == len(s) || last != i {
			return false
		}
		switch n := end - i; {
		case s[i] == '-', s[i] == '.' && n == 1, s[i] == '_' && n <= 2:
		default:
			return false
		}
		i = end
	}
	return s != ""
}

// isDigest reports whether a text is ALGORITHM:HEX.
func isDigest(digest string) bool {
	algorithm, hex, found := strings.Cut(digest, ":")
	if !found || algorithm == "" || !isMadeOf(algorithm, digits+lower+upper+"-_+.") {
		return false
	}
	switch length := len(hex); algorithm {
	case "sha256":
		return length == 64 && isMadeOf(hex, hexDigits)
	case "sha384":
		return length == 96 && isMadeOf(hex, hexDigits)
	case "sha512":
		return length == 128 && isMadeOf(hex, hexDigits)
	}
	return false
}

// isHexID reports whether a text has the form of a sha256 sum. It could be the ID of an image.
func isHexID(s string) bool { return len(s) == 64 && isMadeOf(s, hexDigits) }

const (
	digits    = "0123456789"
	hexDigits = digits + "abcdef"
	lower     = "abcdefghijklmnopqrstuvwxyz"
	upper     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// isMadeOf reports whether a text is not empty and has no other characters than those of set.
func isMadeOf(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}
