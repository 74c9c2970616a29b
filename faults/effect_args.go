package faults

import (
	"encoding/json"
	"strconv"
)

func parseHeader(newEffect func(string, ...string) Effect) func(*args) Effect {
	return func(a *args) Effect {
		v := a.values(1, -1, a.call.name.text+"(NAME, VALUE, ...)")
		return newEffect(v[0], v[1:]...)
	}
}

func parseJitter(a *args) Effect {
	a.values(2, 2, "jitter(DURATION, SEED)")
	if a.err != nil {
		return Jitter(0, 0)
	}
	return Jitter(a.parseDuration(a.token(0)), a.parseSeed(a.token(1)))
}

// parseSeed parses the seed of a random sequence.
func (a *args) parseSeed(t token) uint64 {
	n, err := strconv.ParseUint(t.text, 10, 64)
	if err != nil {
		a.setError(t, "expected a seed, a non-negative integer, found %q", t.text)
	}
	return n
}

func parseOverwrite(a *args) Effect {
	v := a.values(2, 2, "overwrite(OFFSET, BYTES)")
	if a.err != nil {
		return Overwrite(0, "")
	}
	return Overwrite(a.parseInteger(a.token(0)), v[1])
}

func parseThrottle(a *args) Effect {
	a.values(2, 2, "throttle(BYTES, PAUSE)")
	if a.err != nil {
		return Throttle(0, 0)
	}
	return Throttle(a.parseInteger(a.token(0)), a.parseDuration(a.token(1)))
}

// parseSet parses a pointer and a string or json(TEXT).
func parseSet(a *args) Effect {
	const usage = "set(POINTER, TEXT) or set(POINTER, json(JSON))"
	values, options := a.valuesAndOptions(2, usage)
	switch {
	case len(values) == 2 && len(options) == 0:
		return SetField(values[0].text, values[1].text)
	case len(values) == 1 && len(options) == 1 && options[0].name.text == "json":
		inner := a.optionArgs(options[0])
		text := inner.stringArg()
		a.takeError(inner)
		return SetField(values[0].text, json.RawMessage(text))
	}
	a.setError(a.call.name, "expected %s", usage)
	return SetField("", nil)
}

func parseRaw(a *args) Effect {
	const usage = "raw(CODE, CONTENTTYPE, BODY) with options header(NAME, VALUE)"
	values, options := a.valuesAndOptions(3, usage)
	if len(values) < 3 {
		a.setError(a.call.name, "expected %s", usage)
		return Raw(0, "", "")
	}
	var headers []Header
	for _, o := range options {
		if o.name.text != "header" {
			a.setError(o.name, "unknown option %q; known: header", o.name.text)
			break
		}
		inner := a.optionArgs(o)
		v := inner.values(2, 2, "header(NAME, VALUE)")
		a.takeError(inner)
		headers = append(headers, Header{v[0], v[1]})
	}
	return Raw(a.parseInteger(values[0]), values[1].text, values[2].text, headers...)
}
