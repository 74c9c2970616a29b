package conformance

import (
	_ "embed"
	"sync"
)

//go:embed defaults.yaml
var defaultsFile []byte

//go:embed validation.yaml
var validationFile []byte

// builtinDefaultCases returns the cases about defaults of built-in types (DV).
func builtinDefaultCases() []Case { return parsedDefaults() }

// builtinValidationCases returns the cases about the validation of built-in types (VA).
func builtinValidationCases() []Case { return parsedValidation() }

var (
	parsedDefaults   = sync.OnceValue(func() []Case { return parseBuiltinRules(defaultsFile) })
	parsedValidation = sync.OnceValue(func() []Case { return parseBuiltinRules(validationFile) })
)
