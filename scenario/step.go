package scenario

import "context"

// Step is one line of a scenario. The steps of this package are immutable
// values: they can be run any number of times, print as the text that [Parse]
// reads, and are equal (reflect.DeepEqual) if they print the same. A step of
// one's own works with [Run], and has no place in a file.
type Step interface {
	// Run does the step against the server of e. The error says what was expected
	// and what was seen; a nil error means that it went well. It returns when ctx
	// ends, at the latest.
	Run(ctx context.Context, e *Env) error
	// String gives the text form, one line.
	String() string
}

// stepKind is how a kind of step is written.
type stepKind struct {
	// name is the first word of a line, or the first two.
	name string
	// usage is the whole line, as the package documentation has it.
	usage string
	// parse reads what follows the name.
	parse func(*args) (Step, error)
}

// stepKinds are all kinds of steps, sorted by name. A new one is a file of its
// own, a line here, lines in doc.go, and rows in the table of parse_test.go.
func stepKinds() []stepKind {
	return []stepKind{
		{"advance", "advance DURATION", parseAdvance},
		{"always", "always DURATION STEP", parseAlways},
		{"apply", "apply FILE [--server-side [--manager NAME] [--force]]", parseApply},
		{"catch up", "catch up REPLICA", parseViewStep(CatchUp)},
		{"clear fault", "clear fault NAME", parseClearFault},
		{"clear faults", "clear faults", parseBare(ClearFaults())},
		{"compact", "compact", parseBare(Compact())},
		{"create", "create FILE", parseCreate},
		{"delete", "delete KIND/NAME [-n NAMESPACE]", parseDelete},
		{"discovery", "discovery hide|fail|stale|flap|reset [GROUP ...]", parseDiscovery},
		{"eventually", "eventually DURATION STEP", parseEventually},
		{"expect", "expect KIND/NAME [-n NAMESPACE] [PATH=VALUE ...]", parseExpect},
		{"expect absent", "expect absent KIND/NAME [-n NAMESPACE]", parseExpectAbsent},
		{"expect done", "expect done CLIENT", parseExpectDone},
		{"expect error", "expect error TEXT STEP", parseExpectError},
		{"expect events", "expect events WATCH [EVENT ...]", parseExpectEvents},
		{"expect failed", "expect failed CLIENT [TEXT]", parseExpectFailed},
		{"expect hits", "expect hits RULE COUNT", parseExpectHits},
		{"expect list", "expect list KIND [-n NAMESPACE | -A] [--selector SELECTOR] [NAME ...]", parseExpectList},
		{"expect requests", "expect requests CLIENT TEXT COUNT [--in DURATION]", parseExpectRequests},
		{"expect same", "expect same KIND NAMESPACE NAMESPACE", parseExpectSame},
		{"expire", "expire", parseBare(Expire())},
		{"expire token", "expire token TOKEN", parseExpireToken},
		{"fault", "fault RULE", parseFault},
		{"feature", "feature NAME on|off", parseFeature},
		{"freeze", "freeze REPLICA", parseViewStep(Freeze)},
		{"not ready", "not ready DURATION", parseNotReady},
		{"on", "on REPLICA STEP", parseOn},
		{"patch", "patch KIND/NAME [-n NAMESPACE] [--type merge|json|strategic] [--subresource NAME] PATCH", parsePatch},
		{"replica", "replica NAME [--frozen | --lag N | --delay DURATION]", parseReplica},
		{"restart", "restart [STARTUP]", parseRestart},
		{"restore", "restore NAME [BUMP]", parseRestore},
		{"run", "run CLIENT [--on REPLICA]", parseRun},
		{"shutdown", "shutdown", parseBare(Shutdown())},
		{"skew", "skew DURATION", parseSkew},
		{"snapshot", "snapshot NAME", parseSnapshot},
		{"stop", "stop CLIENT", parseStop},
		{"switch", "switch CLIENT REPLICA", parseSwitch},
		{"update", "update FILE [--subresource NAME]", parseUpdate},
		{"watch", "watch NAME KIND [-n NAMESPACE | -A] [--selector SELECTOR] [--from REVISION]", parseWatch},
	}
}

// parseBare reads a step that is only its name.
func parseBare(s Step) func(*args) (Step, error) {
	return func(a *args) (Step, error) {
		if _, err := a.words(0, 0); err != nil {
			return nil, err
		}
		return s, nil
	}
}
