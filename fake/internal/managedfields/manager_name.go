package managedfields

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
)

// ManagerOrUserAgent returns the name of the manager of a request. It is the query parameter
// fieldManager, which must be valid, if that is set, and else the User-Agent up to the first "/"
// without unprintable characters, truncated to the 128 bytes that a name may have (SA-25, SA-26).
// It is "" if the User-Agent is, for which FieldManager.Update records "unknown".
func ManagerOrUserAgent(fieldManager, userAgent string) string {
	if fieldManager != "" {
		return fieldManager
	}
	product, _, _ := strings.Cut(userAgent, "/")
	var name strings.Builder
	for _, r := range product {
		if !unicode.IsPrint(r) {
			continue
		}
		if name.Len()+utf8.RuneLen(r) > validation.FieldManagerMaxLength {
			break
		}
		name.WriteRune(r)
	}
	return name.String()
}
