package mutants

// answers are mutants of errors, and of what is no object: discovery, users, reviews.
func answers() []Mutant {
	const status = "fake/internal/status/status.go"
	return []Mutant{
		{"ST-01", "status-without-a-kind", "sends errors without kind and apiVersion",
			status, `s.Kind, s.APIVersion = "Status", "v1"`, `s.Kind, s.APIVersion = "", ""`, nil},
		{"ST-02", "conflict-is-forbidden", "answers 403 to a write from an old state",
			status, `return apierrors.NewConflict(gr, name, errors.New(`, `return apierrors.NewForbidden(gr, name, errors.New(`, []string{"OC"}},
		{"ST-11", "reason-of-our-own", "gives a reason for errors that nobody knows",
			status, `err.Error(),
		Code:`, `err.Error(),
		Reason: metav1.StatusReasonInternalError, Code:`, []string{"GT", "MD"}},
		{"ST-12", "no-details", "leaves out the details of errors",
			verbs + "api.go", `body, err := represent.Document(out, s)`, `bare := *s
	bare.Details = nil
	body, err := represent.Document(out, &bare)`, []string{"NM", "GT"}},
		{"GT-01", "absent-is-broken", "answers 500 to a get of what is not there",
			verbs + "get.go", `return apierrors.NewNotFound(q.res.GroupResource(), q.target.Name)`, `return apierrors.NewGenericServerResponse(http.StatusInternalServerError, "get", q.res.GroupResource(), q.target.Name, "", 0, false)`, []string{"ST"}},
		{"RS-05", "no-word-on-retrying", "does not say when a read from the future may be tried again",
			status, `"Too large resource version: %d, current: %d", asked, current), 1)`, `"Too large resource version: %d, current: %d", asked, current), 0)`, []string{"GT", "SI"}},
		{"PV-13", "no-method-no-path", "answers 404 to a method that a path does not have",
			status, `return failure(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,`, `return failure(http.StatusNotFound, metav1.StatusReasonNotFound,`, []string{"HT"}},
		{"PV-23", "export-is-back", "ignores the parameter export",
			verbs + "get.go", `route.Bool(export)`, `len(export) > 1000`, nil},
		{"PV-26", "any-case", "finds resources in any case",
			verbs + "api.go", `res := a.types.Table().Lookup(t.Group, t.Version, t.Resource)`, `res := a.types.Table().Lookup(t.Group, t.Version, strings.ToLower(t.Resource))`, nil},
		{"DI-04", "no-short-names", "leaves the short names out of discovery",
			"fake/internal/discovery/documents.go", `return append(text, '\n')`, `return append([]byte(strings.ReplaceAll(string(text), "shortNames", "longNames")), '\n')`, nil},
		{"DI-06", "no-aggregated-discovery", "does not know aggregated discovery",
			"fake/internal/negotiate/negotiate.go", `if strings.Contains(header, "APIGroupDiscoveryList") && offered.routable(header, plain) {`, `if strings.Contains(header, "/") && plain > Custom {`, nil},
		{"DI-07", "never-not-modified", "sends discovery to those who have it already",
			"fake/documents.go", `if r.Header.Get("If-None-Match") == doc.ETag { // DI-07`, `if r.Header.Get("If-None-Match") == "/" {`, nil},
		{"DI-15", "never-verbose", "does not list the checks of its health",
			"fake/health.go", `if _, verbose := r.URL.Query()["verbose"]; verbose {`, `if _, verbose := r.URL.Query()["talkative"]; verbose {`, nil},
		{"VR-01", "says-no-for-yes", "says in access reviews that what is allowed is not",
			verbs + "review.go", `Allowed: d.Allowed(), Denied`, `Allowed: !d.Allowed(), Denied`, nil},
		{"AU-02", "all-may", "lets everybody do everything",
			"fake/authorize.go", `case d.Allowed():`, `case d.Allowed() || d.Err() == nil:`, nil},
		{"AU-06", "audit-id-of-its-own", "does not echo the Audit-ID of the client",
			"fake/route.go", `if id := r.Header.Get("Audit-Id"); id != "" {`, `if id := r.Header.Get("Audit-Idea"); id != "" {`, nil},
		{"AU-07", "groups-of-nobody", "ignores a wish to impersonate a group without a user",
			"fake/internal/authz/impersonate.go", `return user, false, apierrors.NewBadRequest("requested " + printed(user) + " without impersonating a user name")`, `return user, false, nil`, nil},
	}
}
