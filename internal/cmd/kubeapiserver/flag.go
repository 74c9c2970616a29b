package kubeapiserver

import (
	"net"
	"time"

	"github.com/spf13/pflag"
)

// flag is a flag of kube-apiserver.
type flag struct {
	name   string
	define definition
	effect effect
	// description is the text in the help, in one line.
	description string
}

// effect is what a flag changes here.
type effect int

// The effects of flags.
const (
	// ignored flags are accepted and change nothing.
	ignored effect = iota
	// applied flags change the server.
	applied
)

// definition adds a flag of one type, with its default value, to a flag set.
type definition func(flags *pflag.FlagSet, name, description string)

// orNew returns p, or a variable of its own for the value of a flag that is ignored.
func orNew[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}

func boolean(p *bool, byDefault bool) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.BoolVar(orNew(p), name, byDefault, description)
	}
}

func text(p *string, byDefault string) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.StringVar(orNew(p), name, byDefault, description)
	}
}

func integer(p *int, byDefault int) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.IntVar(orNew(p), name, byDefault, description)
	}
}

func integer64(p *int64, byDefault int64) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.Int64Var(orNew(p), name, byDefault, description)
	}
}

func unsigned(p *uint, byDefault uint) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.UintVar(orNew(p), name, byDefault, description)
	}
}

func number32(p *float32, byDefault float32) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.Float32Var(orNew(p), name, byDefault, description)
	}
}

func number64(p *float64, byDefault float64) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.Float64Var(orNew(p), name, byDefault, description)
	}
}

func duration(p *time.Duration, byDefault time.Duration) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.DurationVar(orNew(p), name, byDefault, description)
	}
}

func ip(p *net.IP, byDefault net.IP) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.IPVar(orNew(p), name, byDefault, description)
	}
}

// list has values that are separated by commas; the flag can be repeated.
func list(p *[]string, byDefault ...string) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.StringSliceVar(orNew(p), name, byDefault, description)
	}
}

// integers has numbers that are separated by commas; the flag can be repeated.
func integers(p *[]int32) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.Int32SliceVar(orNew(p), name, nil, description)
	}
}

// repeated has one value each time that the flag is given.
func repeated(p *[]string) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.StringArrayVar(orNew(p), name, nil, description)
	}
}

func pairs(p *map[string]string) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.StringToStringVar(orNew(p), name, nil, description)
	}
}

func custom(value pflag.Value) definition {
	return func(flags *pflag.FlagSet, name, description string) { flags.Var(value, name, description) }
}

// deprecated is a definition with the message that follows the name of a deprecated flag. Its help
// is hidden.
func deprecated(message string, define definition) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		define(flags, name, description)
		if err := flags.MarkDeprecated(name, message); err != nil {
			panic(err) // the flag has just been defined
		}
	}
}

// shown is the definition of a deprecated flag that is in the help.
func shown(define definition) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		define(flags, name, description)
		flags.Lookup(name).Hidden = false
	}
}
