package managedfields

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
)

// ManagerOrUserAgent names the owner of the fields that a request writes: fieldManager, the
// query parameter, which must be valid; without it the User-Agent up to the first
// "/", its unprintable characters left out, cut to the 128 bytes that a name may
// have (SA-25, SA-26). It is "" if the User-Agent is; Update then says "unknown".
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
