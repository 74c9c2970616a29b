package conformance

// UncheckedRule is a rule of rules.md without a case.
type UncheckedRule struct {
	// Rule is the number of the rule.
	Rule string
	// Level is the level of the rule.
	Level Level
	// Reason states why the rule cannot be checked over HTTP on any server.
	Reason string
}

// UncheckedRules returns the rules without a case, sorted by number. All other rules have a case.
// Cases that cannot judge a particular server are skipped in the run instead, see [Result].Reason.
// The caller may modify the slice.
func UncheckedRules() []UncheckedRule {
	return []UncheckedRule{
		{"AU-05", Should, "a client cannot make an authorizer fail"},
		{"BM-05", Must, "the rule is a permission: except for BM-08, the cases that need a bookmark are skipped if none is sent"},
		{"BM-11", May, "the rule is a permission, and BM-04 continues from the resourceVersion of any bookmark"},
		{"CR-17", Should, "a client cannot make a write take so long"},
		{"DL-33", Must, "a client cannot make an object disappear between the list and its deletion"},
		{"DR-11", Should, "the rule is a permission, and DR-05 compares no fields that may differ"},
		{"EX-07", Must, "the rule is about clients, not servers"},
		{"EX-09", Must, "a client cannot make a started response fail"},
		{"EX-10", Must, "the rule is a permission: a write that timed out may or may not have happened"},
		{"HT-06", Should, "the client decides on HTTP/2, and the caller provides the client"},
		{"HT-07", Should, "a client cannot detect priority and fairness, and a server without it sends no such headers"},
		{"HT-08", Should, "a client with a bounded load cannot make a server too busy"},
		{"HT-09", Should, "a client cannot shut down a server"},
		{"HT-10", May, "the rule is a permission"},
		{"HT-11", Should, "a client cannot make a server panic"},
		{"NM-08", Must, "a client cannot make random names collide"},
		{"PB-04", Should, "kube-apiserver closes the connection instead, and may not recover"},
		{"RS-04", Must, "the rule forbids comparisons by clients, and is not about servers"},
		{"RS-06", May, "the rule is a permission, which the cases of RS-05 allow for"},
		{"RS-31", Should, "a client cannot make the cache of a server unready"},
		{"RS-32", May, "a client cannot make the cache of a server lag"},
		{"RS-33", Must, "the rule is a permission, which the cases at resourceVersion 0 allow for"},
		{"RS-34", May, "the feature gate ShardedListAndWatch is alpha and off by default; the meaning of the fields may still change"},
		{"ST-05", Must, "a client with a bounded load cannot make a server too busy"},
		{"ST-06", Must, "a client cannot cause an internal error"},
		{"ST-07", Must, "a client cannot make an operation time out"},
		{"ST-09", Must, "a client cannot reach a server that has not started, except in PV-28"},
		{"ST-10", Must, "a client cannot make a stored object unreadable"},
		{"WA-17", Should, "a case would take between half an hour and an hour"},
		{"WA-26", Should, "servers may choose how much they buffer for a watch"},
		{"WA-27", Should, "a client cannot restart the cache of a server"},
		{"WA-39", Should, "a client cannot make the cache of a server unready"},
		{"WN-06", Must, "the rule is the same as WH-71, which has a case"},
	}
}
