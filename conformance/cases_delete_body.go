package conformance

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// deleteBodyCases returns the cases about the place and the encoding of delete options (DL).
func deleteBodyCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "DL-17", Level: Must, Title: "options are read from the query, or from a body in JSON, YAML or protobuf",
			Why: "client-go sends a body, curl a query", Source: docDelete,
		}, checkDeleteOptionEncodings),
		onBoth(Case{
			ID: "DL-17/body", Level: Must, Title: "with a body, even without options, the query is ignored",
			Why: "options from two sources must not be combined", Source: docDelete,
		}, func(ctx context.Context, s *session, c collection) error {
			o, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			return s.expect(ctx, delWithOptions(c.item("a")+"?dryRun=All&propagationPolicy=Bogus", object{}), code(200), isDeletedStatus(c, o), c.isNotFoundAfter(ctx, "a"))
		}),
		onBoth(Case{
			ID: "DL-17/group", Level: Must, Title: "the body may be DeleteOptions of meta.k8s.io/v1 or of the group version of the resource",
			Why: "old clients use their own group", Source: docDelete,
		}, func(ctx context.Context, s *session, c collection) error {
			for _, apiVersion := range []string{"v1", "meta.k8s.io/v1", c.apiVersion} {
				if _, err := c.create(ctx, c.object("a")); err != nil {
					return err
				}
				options := object{"kind": "DeleteOptions", "apiVersion": apiVersion}
				if err := s.expect(ctx, delWithOptions(c.item("a"), options), code(200), c.isNotFoundAfter(ctx, "a")); err != nil {
					return err
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "DL-18", Level: Must, Title: "a body of another kind than DeleteOptions is rejected",
			Why: "it was written for another request", Source: docDelete,
		}, checkInvalidDeleteBody(func(call *call) { call.body = object{"apiVersion": "example.com/v1", "kind": "Thing"} }, failure{
			code: 400, reason: metav1.StatusReasonBadRequest, contains: `no kind "Thing" is registered for version "example.com/v1" in scheme`,
		})),
		onBoth(Case{
			ID: "DL-19", Level: Must, Title: "a truncated body is rejected",
			Why: "a missing option may be essential", Source: docDelete,
		}, checkInvalidDeleteBody(func(call *call) { call.body = `{"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"` }, failure{
			code: 400, reason: metav1.StatusReasonBadRequest, message: "couldn't get version/kind; json parse error: unexpected end of JSON input",
		})),
		onBoth(Case{
			ID: "DL-20", Level: Must, Title: "a body in an unsupported encoding is rejected",
			Why: "its options would be lost", Source: docDelete,
		}, checkInvalidDeleteBody(func(call *call) { call.body, call.contentType = "{}", "text/plain" }, failure{
			code: 415, reason: metav1.StatusReasonUnsupportedMediaType, contains: "the body of the request was in an unknown format - accepted media types include: ",
		})),
	)
}

// isNotFoundAfter returns an expectation that an object does not exist after the response.
func (c collection) isNotFoundAfter(ctx context.Context, name string) expectation {
	return func(*response) error { return c.expectNotFound(ctx, name) }
}

func checkDeleteOptionEncodings(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	protobuf, err := encodeProtobufOptions(metav1.DeleteOptions{DryRun: []string{"All"}})
	if err != nil {
		return err
	}
	yaml := delWithOptions(c.item("a"), "apiVersion: v1\nkind: DeleteOptions\ndryRun: [All]\n")
	yaml.contentType = "application/yaml"
	binary := delWithOptions(c.item("a"), protobuf)
	binary.contentType = "application/vnd.kubernetes.protobuf"
	for _, one := range []call{del(c.item("a") + "?dryRun=All"), delWithOptions(c.item("a"), object{"dryRun": []string{"All"}}), yaml, binary} {
		if err := s.expect(ctx, one, code(200), kind("v1", "Status")); err != nil {
			return err
		}
		if err := s.expect(ctx, get(c.item("a")), code(200), value(nil, "metadata", "deletionTimestamp")); err != nil {
			return err
		}
	}
	return nil
}

// encodeProtobufOptions encodes options in the protobuf envelope of Kubernetes.
func encodeProtobufOptions(options metav1.DeleteOptions) (string, error) {
	raw, err := options.Marshal()
	if err != nil {
		return "", err
	}
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Raw: raw}
	encoded, err := envelope.Marshal()
	if err != nil {
		return "", err
	}
	return "k8s\x00" + string(encoded), nil
}

// checkInvalidDeleteBody checks that a deletion with such a body is rejected and does nothing, for
// an object and for a collection.
func checkInvalidDeleteBody(spoil func(*call), want failure) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		for _, path := range []string{c.item("a"), c.path()} {
			one := del(path)
			spoil(&one)
			if err := s.expect(ctx, one, want.check); err != nil {
				return err
			}
		}
		l, err := c.list(ctx, "")
		if err != nil {
			return err
		}
		return l.expectNames("a")
	}
}
