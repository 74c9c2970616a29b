package mutants

// reads are mutants of gets and lists: their states, pages and tokens.
func reads() []Mutant {
	return []Mutant{
		{"GT-05", "future-is-now", "answers a read from the future with what there is",
			verbs + "horizon.go", `if rev <= from.Revision() {
		return nil
	}
	ctx, cancel`, `if rev <= from.Revision() || rev > 0 {
		return nil
	}
	ctx, cancel`, []string{"RS", "SI", "CH"}},
		{"GT-06", "any-text-is-a-version", "takes a resourceVersion that is none for none",
			verbs + "revision.go", `if err != nil {
		return 0, fmt`, `if err != nil {
		return 0, nil
	}
	if n == 0 && s == "" {
		return 0, fmt`, []string{"RS", "WA"}},
		{"LS-02", "items-without-a-type", "leaves kind and apiVersion out of the items of a list of custom resources",
			"fake/internal/represent/list.go", `if p.out.Form == negotiate.Full && p.res.Custom == nil {`, `if p.out.Form == negotiate.Full {`, nil},
		{"LS-05", "lists-backwards", "lists the last object first",
			verbs + "list.go", `p.items = append(p.items, rec)`, `p.items = append([]*memstore.Record{rec}, p.items...)`, []string{"RS", "CH"}},
		{"RS-07", "gone-is-ok", "answers 200 with what there is for a state that is gone",
			verbs + "list.go", `view, err := a.store.ViewAt(rev)
	return view, status.Revisions(err)`, `view, err := a.store.ViewAt(rev)
	if err != nil {
		return a.store.View(), nil
	}
	return view, nil`, []string{"CH", "EX"}},
		{"RS-15", "version-of-before", "says of a list that it is of one revision earlier",
			verbs + "list.go", `metav1.ListMeta{ResourceVersion: rev.String(), Continue`, `metav1.ListMeta{ResourceVersion: (rev - 1).String(), Continue`, []string{"LS", "CH"}},
		{"RS-18", "token-and-version", "takes a resourceVersion beside a continue token",
			verbs + "list.go", `if opts.ResourceVersion != "" && opts.ResourceVersion != "0" {`, `if opts.ResourceVersion == "/" {`, nil},
		{"RS-21", "exact-is-newest", "answers a list of an exact state with the newest",
			verbs + "list.go", `if exact && rev > 0 {`, `if exact && rev > 0 && q == nil {`, nil},
		{"PV-04", "sees-the-neighbours", "lists the objects of every namespace whose name begins as that of the path",
			verbs + "list.go", `prefix := q.key()`, `prefix := q.key()[:len(q.key())-1]`, []string{"LS", "NM", "PV"}},
		{"CH-01", "limit-is-ignored", "gives all objects whatever the limit",
			verbs + "list.go", `return int(max(opts.Limit, 0))`, `return int(min(opts.Limit, 0))`, nil},
		{"CH-03", "token-forgets-its-state", "goes on in the newest state where the token names another",
			verbs + "list.go", `view, err = a.viewAt(q, at.revision)`, `view = a.store.View()`, []string{"RS"}},
		{"CH-04", "page-skips-one", "leaves out the first object of the next page",
			verbs + "list.go", `last := p.items[limit-1].Key + "\x00"`, `last := rec.Key + "\x00"`, nil},
		{"CH-04", "page-repeats-one", "begins a page with the last object of the page before",
			verbs + "list.go", `last := p.items[limit-1].Key + "\x00"`, `last := p.items[limit-1].Key`, nil},
		{"CH-05", "one-more-remains", "counts one object too many in remainingItemCount",
			verbs + "list.go", `meta.RemainingItemCount = &page.remaining`, `meta.RemainingItemCount = new(page.remaining + 1)`, nil},
		{"CH-05", "counts-what-is-selected", "gives a remainingItemCount where a selector is used",
			verbs + "list.go", `if page.token != "" && sel.all() { // CH-05`, `if page.token != "" {`, nil},
		{"CH-05", "count-of-the-first-page", "gives every page the remainingItemCount of the first",
			verbs + "pages.go", `if from == "" {
		return`, `if from == "" || from != "" {
		return`, nil},
		{"CH-14", "any-version-of-token", "takes tokens of versions that it does not know",
			verbs + "continue.go", `if err != nil {
		return position{}`, `if err != nil && !strings.Contains(err.Error(), "encoded version") {
		return position{}`, nil},
		{"CH-16", "token-climbs", "lets a token read outside of its collection",
			verbs + "continue.go", `if err != nil {
		return position{}`, `if err != nil && !strings.Contains(err.Error(), "..") {
		return position{}`, nil},
		{"CH-18", "expired-without-a-token", "gives no token to go on with when one has expired",
			"fake/internal/status/status.go", `err.ErrStatus.ListMeta.Continue = token`, `_ = token`, nil},
		{"CH-18", "expired-is-bad", "answers 400 to a token that has expired",
			"fake/internal/status/status.go", `err := apierrors.NewResourceExpired("The provided`, `err := apierrors.NewBadRequest("The provided`, nil},
	}
}
