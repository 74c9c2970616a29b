package conformance

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// healthCases returns the cases about version, health and metrics (DI-13 to DI-17, DI-19).
func healthCases() []Case {
	about := func(id string, level Level, title, why, source string, check checkFunc) Case {
		return Case{ID: id, Level: level, Title: title, Why: why, Source: source, check: check}
	}
	const healthz = "apiserver pkg/server/healthz"
	return []Case{
		about("DI-13", Must, "/version returns the release, only in JSON", "clients choose features by it", "apiserver pkg/server/routes/version.go", checkVersion),
		about("DI-14", Must, "the health paths return ok", "load balancers and probes use them", healthz, func(ctx context.Context, s *session) error {
			for _, path := range []string{"/livez", "/readyz", "/healthz"} {
				if err := s.expect(ctx, get(path), code(200), mediaType("text/plain"), bodyIs("ok")); err != nil {
					return err
				}
			}
			return nil
		}),
		about("DI-15", Should, "with verbose, the health paths list their checks", "users look there for failed checks", healthz, func(ctx context.Context, s *session) error {
			for _, path := range []string{"/livez", "/readyz", "/healthz"} {
				if _, err := s.healthChecks(ctx, path, ""); err != nil {
					return err
				}
			}
			return nil
		}),
		about("DI-16/exclude", Should, "a check can be excluded", "clusters are upgraded despite a check that is known to fail", healthz, checkExclude),
		about("DI-16/unknown", Should, "excluding an unknown check is reported", "a typo in its name would go unnoticed", healthz,
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, get("/readyz?verbose&exclude=conformance-none"), code(200),
					bodyContains("warn: some health checks cannot be excluded: no matches for \"conformance-none\"\n"))
			}),
		about("DI-17", Should, "each check has a path of its own; an unknown check is NotFound", "monitors read single checks", healthz, checkSingleHealthChecks),
		about("DI-19", Should, "/metrics has the request metrics in the text format", "Prometheus scrapes it", "apiserver pkg/server/routes/metrics.go", func(ctx context.Context, s *session) error {
			if err := s.expect(ctx, get("/api/v1/namespaces/default"), code(200)); err != nil {
				return err
			}
			return s.expect(ctx, get("/metrics").withAccept("text/plain"), code(200), mediaType("text/plain"), bodyContains("\n# TYPE apiserver_request_total counter\n"),
				func(r *response) error {
					line := regexp.MustCompile(`(?m)^apiserver_request_total\{code="200",component="apiserver",dry_run="",group="",resource="namespaces",scope="resource",subresource="",verb="GET",version="v1"\} [1-9]`)
					if !line.Match(r.body) {
						return fmt.Errorf("expected a count of GET requests for namespaces")
					}
					return nil
				})
		}),
	}
}

// bodyIs expects a body.
func bodyIs(want string) expectation {
	return func(r *response) error {
		if string(r.body) != want {
			return fmt.Errorf("expected the text %q", want)
		}
		return nil
	}
}

// bodyContains expects a body that contains a text.
func bodyContains(want string) expectation {
	return func(r *response) error {
		if !strings.Contains(string(r.body), want) {
			return fmt.Errorf("expected a text with %q", want)
		}
		return nil
	}
}

func checkVersion(ctx context.Context, s *session) error {
	r, err := s.do(ctx, get("/version"), code(200), mediaType("application/json"), field("1", "major"))
	if err != nil {
		return err
	}
	version := map[string]string{}
	if err := r.decode(&version); err != nil {
		return err
	}
	for name, form := range sortedByKey(map[string]string{"minor": `^\d+`, "gitVersion": `^v\d+\.\d+\.\d+`, "goVersion": `^go`, "compiler": `.`, "platform": `^\w+/\w+$`, "buildDate": `.`}) {
		if !regexp.MustCompile(form).MatchString(version[name]) {
			return r.errorf("expected %s to match %s, got %q", name, form, version[name])
		}
	}
	return s.expect(ctx, get("/version").withAccept("application/yaml"), code(406))
}

// healthChecks returns the names of the passed checks of a health path, in order.
func (s *session) healthChecks(ctx context.Context, path, more string) (names []string, err error) {
	r, err := s.do(ctx, get(path+"?verbose"+more), code(200), mediaType("text/plain"))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(r.body), "\n"), "\n")
	last := len(lines) - 1
	if want := strings.Trim(path, "/") + " check passed"; lines[last] != want {
		return nil, r.errorf("expected %q at the end", want)
	}
	for _, line := range lines[:last] {
		name, begins := strings.CutPrefix(line, "[+]")
		name, ends := strings.CutSuffix(name, " ok")
		if !begins || !ends {
			return nil, r.errorf("expected lines like [+]name ok, got %q", line)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, r.errorf("expected checks")
	}
	return names, nil
}

func checkExclude(ctx context.Context, s *session) error {
	names, err := s.healthChecks(ctx, "/livez", "")
	if err != nil {
		return err
	}
	return s.expect(ctx, get("/livez?verbose&exclude="+names[0]), code(200), bodyContains("[+]"+names[0]+" excluded: ok\n"), bodyContains("livez check passed\n"))
}

func checkSingleHealthChecks(ctx context.Context, s *session) error {
	for _, path := range []string{"/livez", "/readyz"} {
		names, err := s.healthChecks(ctx, path, "")
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := s.expect(ctx, get(path+"/"+name), code(200), bodyIs("ok")); err != nil {
				return err
			}
		}
		if err := s.expect(ctx, get(path+"/conformance-none"), pageNotFound); err != nil {
			return err
		}
	}
	return nil
}
