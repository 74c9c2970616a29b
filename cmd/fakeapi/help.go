package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// help prints the commands, or the flags of one command.
func help(ctx context.Context, c *call, args []string) error {
	switch {
	case len(args) > 1:
		return usageError{errors.New("help takes the name of one command")}
	case len(args) == 1 && !strings.HasPrefix(args[0], "-"):
		c.args = []string{args[0], "--help"}
		return dispatch(ctx, c)
	}
	var b strings.Builder
	b.WriteString("fakeapi is a Kubernetes API server in memory, for tests.\n\n")
	for _, one := range commandList() {
		fmt.Fprintf(&b, "  fakeapi %-14s  %s\n", one.name, one.summary)
	}
	fmt.Fprintf(&b, "  fakeapi %-14s  %s\n", "help", "print this, or the flags of a COMMAND")
	b.WriteString("\nExit status: 0 for success, a signal and help, 1 for what went wrong, 2 for a command line that was not understood.\n" +
		"The manual: go doc example.com/fakeapi/cmd/fakeapi\n")
	_, err := io.WriteString(c.stdout, b.String())
	return err
}

// parse parses the flags that define declares, and rejects other arguments. For -h it prints the
// usage and returns flag.ErrHelp.
func (c *call) parse(define func(*flag.FlagSet)) error {
	words, err := c.parseWords(define)
	if err == nil && len(words) > 0 {
		err = c.usageError(fmt.Errorf("unexpected argument %q", words[0]))
	}
	return err
}

// parseWords is parse for a command with arguments, which may be before, between and after the
// flags.
func (c *call) parseWords(define func(*flag.FlagSet)) (words []string, err error) {
	flags := flag.NewFlagSet(c.command.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	define(flags)
	for rest := c.args; ; {
		err := flags.Parse(rest)
		switch {
		case errors.Is(err, flag.ErrHelp):
			return nil, cmp.Or(c.usage(flags), err)
		case err != nil:
			return nil, c.usageError(unknownFlag(err, flags))
		case flags.NArg() == 0:
			return words, nil
		}
		words, rest = append(words, flags.Arg(0)), flags.Args()[1:]
	}
}

// unknownFlag adds a suggestion to the error of an unknown flag.
func unknownFlag(err error, flags *flag.FlagSet) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	var known []string
	flags.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	return fmt.Errorf("unknown flag %s%s", withDashes(name), suggest(name, known, withDashes))
}

// withDashes returns a flag as help shows it. Package flag accepts one dash or two.
func withDashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func (c *call) usageError(err error) error {
	return usageError{fmt.Errorf("%s: %w; see fakeapi help %s", c.command.name, err, c.command.name)}
}

// usage prints the forms of a command, and its flags.
func (c *call) usage(flags *flag.FlagSet) error {
	var b strings.Builder
	for _, form := range c.command.forms() {
		b.WriteString(form + "\n")
	}
	fmt.Fprintf(&b, "\n%s\n", c.command.summary)
	flags.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "false" && !strings.Contains(text, "default") {
			text += "; the default is " + f.DefValue
		}
		fmt.Fprintf(&b, "\n  %s\n\t%s\n", strings.TrimSpace(withDashes(f.Name)+" "+value), text)
	})
	_, err := io.WriteString(c.stdout, b.String())
	return err
}
