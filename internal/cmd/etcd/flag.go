package etcd

import (
	"flag"
	"time"
)

// flagRow is a flag of etcd.
type flagRow struct {
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
	// applied flags change the process or the servers that it serves.
	applied
)

// definition adds a flag of one type, with its default value, to a flag set.
type definition func(flags *flag.FlagSet, name, description string)

// orNew returns p, or a variable of its own for the value of a flag that is ignored.
func orNew[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}

func boolean(p *bool, byDefault bool) definition {
	return func(flags *flag.FlagSet, name, description string) {
		flags.BoolVar(orNew(p), name, byDefault, description)
	}
}

func text(p *string, byDefault string) definition {
	return func(flags *flag.FlagSet, name, description string) {
		flags.StringVar(orNew(p), name, byDefault, description)
	}
}

func integer(p *int, byDefault int) definition {
	return func(flags *flag.FlagSet, name, description string) {
		flags.IntVar(orNew(p), name, byDefault, description)
	}
}

func integer64(p *int64, byDefault int64) definition {
	return func(flags *flag.FlagSet, name, description string) {
		flags.Int64Var(orNew(p), name, byDefault, description)
	}
}

func unsigned(p *uint, byDefault uint) definition {
	return func(flags *flag.FlagSet, name, description string) {
		flags.UintVar(orNew(p), name, byDefault, description)
	}
}

func unsigned64(p *uint64, byDefault uint64) definition {
	return func(flags *flag.FlagSet, name, description string) {
		flags.Uint64Var(orNew(p), name, byDefault, description)
	}
}

func duration(p *time.Duration, byDefault time.Duration) definition {
	return func(flags *flag.FlagSet, name, description string) {
		flags.DurationVar(orNew(p), name, byDefault, description)
	}
}

func custom(value flag.Value) definition {
	return func(flags *flag.FlagSet, name, description string) { flags.Var(value, name, description) }
}
