package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docMux = "apiserver pkg/server/handler.go and mux"

// methodNotAllowed is the failure of an unsupported method of a typed resource.
var methodNotAllowed = failure{
	code: 405, reason: metav1.StatusReasonMethodNotAllowed,
	message: "the server does not allow this method on the requested resource",
}

// resourceNotFound is the failure of an unknown resource of a typed group.
var resourceNotFound = failure{
	code: 404, reason: metav1.StatusReasonNotFound,
	message: "the server could not find the requested resource",
}

// nameRequired is the failure of an item verb on a collection of custom resources.
var nameRequired = failure{code: 400, reason: metav1.StatusReasonBadRequest, message: "name must be provided"}

// pathErrorCases returns the cases about paths and methods that are not served (PV).
func pathErrorCases() []Case {
	errorCase := func(on func(Case, collectionCheck) Case, id, title string, calls func(c collection) []call, expect expectation) Case {
		return on(Case{
			ID: id, Level: Must, Title: title,
			Why:    "a client needs an error, and the code determines whether it retries",
			Source: "apiserver installer.go; apiextensions customresource_handler.go",
		}, checkResponses(calls, expect))
	}
	one := func(build func(c collection) call) func(collection) []call {
		return func(c collection) []call { return []call{build(c)} }
	}
	// A dry run, in case the server is faulty.
	acrossPost := one(func(c collection) call { return post(c.allNamespacesPath()+"?dryRun=All", c.object("a")) })
	// The selector matches nothing, because a faulty server would delete objects of others.
	acrossDelete := one(func(c collection) call {
		return del(c.allNamespacesPath() + "?labelSelector=conformance-absent=" + c.namespace)
	})
	onCollection := func(c collection) []call {
		return []call{put(c.path(), c.object("a")), mergePatch(c.path(), object{})}
	}
	return slices.Concat([]Case{
		errorCase(onSecrets, "PV-06/typed", "POST across namespaces of a typed resource is not allowed", acrossPost, methodNotAllowed.check),
		errorCase(onBasicCRs, "PV-06/custom", "POST across namespaces of a custom resource is a path that does not exist", acrossPost, pageNotFound),
		errorCase(onSecrets, "PV-07/typed", "DELETE across namespaces of a typed resource is not allowed", acrossDelete, methodNotAllowed.check),
		errorCase(onBasicCRs, "PV-07/custom", "DELETE across namespaces of a custom resource is a path that does not exist", acrossDelete, pageNotFound),
		errorCase(onSecrets, "PV-13/typed", "PUT and PATCH of a typed collection are not allowed", onCollection, methodNotAllowed.check),
		errorCase(onBasicCRs, "PV-13/custom", "PUT and PATCH of a custom collection fail because of the missing name", onCollection, nameRequired.check),
		errorCase(onSecrets, "PV-14", "POST to the path of a typed object is not allowed",
			one(func(c collection) call { return post(c.item("a"), c.object("a")) }), methodNotAllowed.check),
		errorCase(onSecrets, "PV-16", "an unknown group is a path that does not exist, answered in text",
			one(func(c collection) call { return get("/apis/absent." + c.namespace + ".example.com/v1/things") }), pageNotFound),
		errorCase(onSecrets, "PV-17/typed", "an unknown resource or version of a built-in group is not found",
			func(c collection) []call {
				return []call{get("/api/v1/nothings"), get("/api/v1/namespaces/" + c.namespace + "/nothings/a"), get("/api/v9/secrets")}
			}, resourceNotFound.check),
		errorCase(onBasicCRs, "PV-17/custom", "an unknown resource or version of a custom group is a path that does not exist, answered in text",
			func(c collection) []call {
				return []call{
					get(c.root + "/nothings"), get(c.root + "/namespaces/" + c.namespace + "/nothings/a"),
					get("/apis/" + c.group + "/v9/" + c.resource),
				}
			}, pageNotFound),
		errorCase(onSecrets, "PV-18/typed", "an unknown subresource of a typed resource is not found",
			one(func(c collection) call { return get(c.item("a") + "/nothing") }), resourceNotFound.check),
		errorCase(onSecrets, "PV-26/typed", "a typed resource in the wrong case is not found",
			one(func(c collection) call { c.resource = "Secrets"; return get(c.path()) }), resourceNotFound.check),
		errorCase(onBasicCRs, "PV-26/custom", "a custom resource in the wrong case is not found",
			one(func(c collection) call { c.resource = "Widgets"; return get(c.path()) }), pageNotFound),
		errorCase(onSecrets, "PV-27/typed", "a method that a typed subresource lacks is not allowed",
			one(func(c collection) call { return del("/api/v1/namespaces/" + c.namespace + "/pods/a/status") }), methodNotAllowed.check),
		onBasicCRs(Case{
			ID: "PV-15", Level: May, Title: "POST to the path of a custom object may create it",
			Why:    "it is a side effect of the custom resource handler; clients should not rely on it",
			Source: "apiextensions customresource_handler.go",
		}, func(ctx context.Context, s *session, c collection) error {
			r, err := s.do(ctx, post(c.item("a"), c.object("a")), code(201, 405))
			if err != nil || r.code == 405 {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), field("a", "metadata", "name"))
		}),
		onBasicCRs(Case{
			ID: "PV-18/custom", Level: Must, Title: "an unknown subresource of a custom object is NotFound, with the name of the object",
			Why:    "clients detect scale and status this way",
			Source: "apiextensions customresource_handler.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")+"/nothing"), notFound(c, "a").check)
		}),
		{
			ID: "PV-19", Level: Should, Title: "an unknown top-level path is answered 404, as text or with the index of paths",
			Why:    "probes of optional endpoints check the code",
			Source: docMux, check: checkUnknownTopLevelPath,
		},
		onBasicCRs(Case{
			ID: "PV-27/custom", Level: Must, Title: "an unsupported verb of a custom subresource is rejected with its name and that of the resource",
			Why:    "the message is all that a user sees",
			Source: "apiextensions customresource_handler.go; apimachinery errors.NewMethodNotSupported",
		}, checkUnsupportedVerbs),
		{
			ID: "PV-28", Level: Should, Title: "until all paths are installed, unknown paths are answered 503 with a retry delay",
			Why:    "after a 404, garbage collectors and clients would conclude that a type was removed",
			Source: "apiserver pkg/server/filters and mux; KEP-2339", check: checkStartup, alone: true,
		},
		onSecrets(Case{
			ID: "PV-31/watch", Level: Must, Title: "a watch path with a name and a field selector for another name is rejected",
			Why:    "one of the two would be ignored silently",
			Source: "apiserver handlers/get.go",
		}, checkContradictingNames),
		onBasicCRs(Case{
			ID: "PV-31/customwatch", Level: Must, Title: "a watch path with a name and a field selector for another name is rejected, for custom resources too",
			Why:    "one of the two would be ignored silently",
			Source: "apiserver handlers/get.go",
		}, checkContradictingNames),
	},
		onBoth(Case{
			ID: "PV-31/get", Level: Must, Title: "GET of an object ignores a field selector",
			Why:    "unknown parameters are ignored",
			Source: "apiserver handlers/get.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")+"?fieldSelector=metadata.name=b"), code(200), field("a", "metadata", "name"))
		}),
		onBoth(Case{
			ID: "PV-23", Level: Must, Title: "the removed export parameter is rejected for an object, existing or not, and ignored for a list",
			Why:    "an old client would treat the full object as an exported one",
			Source: "apiserver handlers/get.go",
		}, checkExport),
		onBoth(Case{
			ID: "PV-24/limit", Level: Must, Title: "a limit that is not a number is rejected",
			Why:    "the response without a limit could be very large",
			Source: "apimachinery query parameter conversion",
		}, checkInvalidNumber("?limit=abc")),
		onBoth(Case{
			ID: "PV-24/timeoutSeconds", Level: Must, Title: "a timeoutSeconds that is not a number is rejected",
			Why:    "the client relies on the timeout",
			Source: "apimachinery query parameter conversion",
		}, checkInvalidNumber("?timeoutSeconds=abc")),
		onBoth(Case{
			ID: "PV-25", Level: Must, Title: "a timeout that is not a duration is rejected, except for a watch",
			Why:    "the client relies on the timeout",
			Source: "apiserver filters/request_deadline.go",
		}, checkInvalidTimeout),
		pathVersionCases(),
	)
}

// checkResponses checks that the responses to all calls meet the expectation.
func checkResponses(calls func(collection) []call, expect expectation) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for _, one := range calls(c) {
			if err := s.expect(ctx, one, expect); err != nil {
				return err
			}
		}
		return nil
	}
}

// notFound is the failure of a request for an object that does not exist.
func notFound(c collection, name string) failure {
	return failure{
		code: 404, reason: metav1.StatusReasonNotFound,
		message: fmt.Sprintf("%s %q not found", c.groupResource(), name), details: c.statusDetails(name),
	}
}

func checkInvalidNumber(query string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		return s.expect(ctx, get(c.path()+query), failure{
			code: 400, reason: metav1.StatusReasonBadRequest, message: `strconv.ParseInt: parsing "abc": invalid syntax`,
		}.check)
	}
}

func checkExport(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for _, name := range []string{"a", "absent"} {
		err := s.expect(ctx, get(c.item(name)+"?export=true"), failure{
			code: 400, reason: metav1.StatusReasonBadRequest,
			message: "the export parameter, deprecated since v1.14, is no longer supported",
		}.check)
		if err != nil {
			return err
		}
	}
	l, err := c.list(ctx, "?export=true")
	if err != nil {
		return err
	}
	return l.expectNames("a")
}

// checkInvalidTimeout sends invalid timeouts with reads and writes. A watch has timeoutSeconds
// instead.
func checkInvalidTimeout(ctx context.Context, s *session, c collection) error {
	for _, one := range []call{
		get(c.path() + "?timeout=abc"), get(c.path() + "?timeout=5"), get(c.item("absent") + "?timeout=abc"),
		post(c.path()+"?timeout=abc", c.object("a")), del(c.item("absent") + "?timeout=abc"),
	} {
		err := s.expect(ctx, one, failure{
			code: 400, reason: metav1.StatusReasonBadRequest, contains: "invalid timeout specified in the request URL",
		}.check)
		if err != nil {
			return err
		}
	}
	return checkWatchParameter("?watch=true&timeoutSeconds=3&timeout=abc")(ctx, s, c)
}

func checkUnknownTopLevelPath(ctx context.Context, s *session) error {
	r, err := s.do(ctx, get("/nothing-at-the-top"), code(404))
	if err != nil {
		return err
	}
	if mediaType("application/json")(r) != nil {
		return r.expect(pageNotFound)
	}
	var paths metav1.RootPaths
	if err := r.decode(&paths); err != nil {
		return err
	}
	if len(paths.Paths) == 0 {
		return r.errorf("expected an index of paths")
	}
	return nil
}

func checkUnsupportedVerbs(ctx context.Context, s *session, c collection) error {
	for _, one := range []struct {
		verb string
		call call
	}{
		{"create", post(c.item("a")+"/status", c.object("a"))},
		{"delete", del(c.item("a") + "/status")},
	} {
		err := s.expect(ctx, one.call, failure{
			code: 405, reason: metav1.StatusReasonMethodNotAllowed,
			message: fmt.Sprintf("%s is not supported on resources of kind %q", one.verb, c.groupResource()),
			details: c.statusDetails(""),
		}.check)
		if err != nil {
			return err
		}
	}
	return nil
}

func checkContradictingNames(ctx context.Context, s *session, c collection) error {
	c.root += "/watch"
	return s.expect(ctx, get(c.item("a")+"?fieldSelector=metadata.name=b&timeoutSeconds=1"), failure{
		code: 400, reason: metav1.StatusReasonBadRequest, message: "fieldSelector metadata.name doesn't match requested name",
	}.check)
}

func checkStartup(ctx context.Context, s *session) error {
	if s.run.config.BeginStartup == nil {
		return s.skipf("it needs Config.BeginStartup to reach a server during its start")
	}
	stop, err := s.run.config.BeginStartup(ctx)
	if err != nil {
		return err
	}
	defer stop()
	r, err := s.do(ctx, get("/apis/absent.example.com/v1/things"), failure{
		code: 503, reason: metav1.StatusReasonServiceUnavailable,
		message: "the request has been made before all known HTTP paths have been installed, please try again",
		details: &metav1.StatusDetails{RetryAfterSeconds: 5},
	}.check)
	if err != nil {
		return err
	}
	if got := r.header.Get("Retry-After"); got != "5" {
		return r.errorf("expected the header Retry-After: 5, got %q", got)
	}
	return nil
}
