package faults

import (
	"strconv"
	"time"
)

// args gives access to the arguments of one call and keeps the first error. After an error, all
// methods return zero values.
type args struct {
	p    *parser
	call call
	err  error
}

func (a *args) setError(t token, format string, v ...any) {
	if a.err == nil {
		a.err = a.p.errorAt(t, format, v...)
	}
}

// values returns all arguments as strings. There must be at least low and, if high is not negative,
// at most high of them.
func (a *args) values(low, high int, usage string) []string {
	n := len(a.call.args)
	if n < low || high >= 0 && n > high {
		a.setError(a.call.name, "expected %s", usage)
		return make([]string, max(low, 0))
	}
	var texts []string
	for _, item := range a.call.args {
		if item.call != nil {
			a.setError(item.value, "expected a value, found %s(...)", item.value.text)
			return make([]string, max(low, 0))
		}
		texts = append(texts, item.value.text)
	}
	return texts
}

// checkNoArgs sets an error if there are arguments.
func (a *args) checkNoArgs() {
	if len(a.call.args) > 0 {
		a.setError(a.call.args[0].value, "%s takes no arguments", a.call.name.text)
	}
}

// valuesAndOptions splits the arguments into the leading values, at least one and at most high of
// them, and the options after them.
func (a *args) valuesAndOptions(high int, usage string) (values []token, options []call) {
	for _, item := range a.call.args {
		switch {
		case item.call != nil:
			options = append(options, *item.call)
		case len(options) > 0:
			a.setError(item.value, "expected an option, found the value %s: values come before options", item.value)
		case len(values) == high:
			a.setError(item.value, "expected an option or \")\", found %s: %s", item.value, usage)
		default:
			values = append(values, item.value)
		}
	}
	if len(values) == 0 {
		a.setError(a.call.name, "expected %s", usage)
		values = []token{a.call.name}
	}
	return values, options
}

// optionArgs returns the arguments of an option.
func (a *args) optionArgs(c call) *args { return &args{p: a.p, call: c} }

// takeError copies the error of the arguments of an option.
func (a *args) takeError(o *args) {
	if a.err == nil {
		a.err = o.err
	}
}

func (a *args) parseInteger(t token) int {
	n, err := strconv.Atoi(t.text)
	if err != nil {
		a.setError(t, "expected an integer, found %s", t)
	}
	return n
}

func (a *args) parseDuration(t token) time.Duration {
	d, err := time.ParseDuration(t.text)
	if err != nil {
		a.setError(t, "expected a duration such as 1.5s or 5m, found %s", t)
	}
	return d
}

// token returns the ith argument, which values has checked.
func (a *args) token(i int) token {
	if i >= len(a.call.args) {
		return a.call.name
	}
	return a.call.args[i].value
}
