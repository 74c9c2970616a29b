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
		{"AU-05", Should, "an authorizer that fails cannot be provoked from outside"},
		{"BM-05", Must, "it is a permission: the cases that need a bookmark are skipped where none comes, but for BM-08"},
		{"BM-11", May, "it is a permission, and BM-04 goes on from whatever a bookmark says"},
		{"CR-17", Should, "a write that takes so long cannot be provoked from outside"},
		{"DL-33", Must, "that an object goes between the list and its deletion cannot be provoked from outside"},
		{"DR-07", Must, "the suite installs no admission webhooks: they would see the requests of others on the cluster"},
		{"DR-11", Should, "it is a permission, and DR-05 compares nothing that may differ"},
		{"EX-07", Must, "it binds clients, servers have nothing to do"},
		{"EX-09", Must, "an answer that has begun and cannot go on cannot be provoked from outside"},
		{"EX-10", Must, "it is a permission: the outcome of a write that timed out is open"},
		{"HT-06", Should, "it depends on the client, which is the caller's"},
		{"HT-07", Should, "whether there is priority and fairness cannot be told from outside: a server without it is right to leave the headers out"},
		{"HT-08", Should, "a server that is too busy cannot be provoked from outside"},
		{"HT-09", Should, "the end of a server cannot be provoked from outside"},
		{"HT-10", May, "it is a permission"},
		{"HT-11", Should, "a panic cannot be provoked from outside"},
		{"NM-08", Must, "the retry after a random collision cannot be provoked from outside"},
		{"PB-04", Should, "the server that the rules were seen on breaks the connection instead, and may not survive it"},
		{"RS-04", Must, "it forbids clients to compare, servers have nothing to do"},
		{"RS-06", May, "it is a permission, which the cases of RS-05 grant"},
		{"RS-31", Should, "a cache that is not ready cannot be provoked from outside"},
		{"RS-32", May, "a cache that stays behind cannot be provoked from outside"},
		{"RS-33", Must, "it is a permission, which the cases at resourceVersion 0 grant"},
		{"RS-34", May, "it is alpha and off by default, behind the feature gate ShardedListAndWatch; what the fields mean may still change"},
		{"ST-05", Must, "a server that is too busy cannot be provoked from outside with a bounded load"},
		{"ST-06", Must, "an internal error cannot be provoked from outside"},
		{"ST-07", Must, "an operation that could not be done in time cannot be provoked from outside"},
		{"ST-09", Must, "a server that is not there yet cannot be provoked from outside, but by PV-28"},
		{"ST-10", Must, "an object that cannot be read cannot be provoked from outside"},
		{"WA-17", Should, "it takes from half an hour to an hour"},
		{"WA-26", Should, "how much a server buffers for a watch is its own affair"},
		{"WA-27", Should, "a restart of the cache cannot be provoked from outside"},
		{"WA-37", Must, "rights that change while a watch runs need an authorizer that the suite can set up: it has the rights of whoever runs it"},
		{"WA-39", Should, "a cache that is not ready cannot be provoked from outside"},
		{"WN-06", Must, "the suite installs no admission webhooks: they would see the requests of others on the cluster"},
	}
}
