package handlers

import (
	"fmt"
	"strconv"
	"strings"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// typeName is how Go prints the type of a value: "*v1.ConfigMapList".
func typeName(v any) string { return fmt.Sprintf("%T", v) }

// nameFromKey is the object's name in its key.
func nameFromKey(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
