package conformance

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reasonCases returns the cases about the codes of reasons and the types of causes (ST-04, ST-08,
// ST-11, ST-14).
func reasonCases() []Case {
	const docErrors = "Kubernetes API conventions, Error responses; apimachinery pkg/api/errors"
	about := func(id, title, why string, check collectionCheck) []Case {
		return onBoth(Case{ID: id, Level: Must, Title: title, Why: why, Source: docErrors}, check)
	}
	return slices.Concat(
		onBoth(Case{
			ID: "ST-04", Level: Must, Title: "the reason Expired has the code 410", Why: "clients list again for either", Source: docErrors, alone: true,
		}, checkExpiredList("?resourceVersion=1&resourceVersionMatch=Exact")),
		about("ST-08", "the reason Timeout has the code 504", "clients distinguish a late server from a busy one, which answers 429", func(ctx context.Context, s *session, c collection) error {
			version, err := listUnreachedVersion(ctx, c)
			if err != nil {
				return err
			}
			return s.expect(ctx, get(c.path()+"?resourceVersion="+version), failure{code: 504, reason: metav1.StatusReasonTimeout, contains: "Too large resource version"}.check)
		}),
		about("ST-11", "an unclassified error has the code 500 and no reason", "clients must not treat it as a known error", func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.item("a")+"?resourceVersion=abc"), failure{code: 500}.check, noField("reason"))
		}),
		about("ST-14/conflict", "an apply conflict has the cause FieldManagerConflict", "kubectl prints the manager from it", func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(applyAs("one", c.item("a"), c.object("a").withLabel("l", "1")), code(201)),
				send(applyAs("two", c.item("a"), c.object("a").withLabel("l", "2")), code(409),
					hasCause(cause(metav1.CauseTypeFieldManagerConflict, ".metadata.labels.l", `conflict with "one"`))),
			)
		}),
		about("ST-14/future", "a read at an unreached resourceVersion has the cause ResourceVersionTooLarge", "reflectors detect a server that lags by it", func(ctx context.Context, s *session, c collection) error {
			version, err := listUnreachedVersion(ctx, c)
			if err != nil {
				return err
			}
			return s.expect(ctx, get(c.path()+"?resourceVersion="+version), code(504), hasCause(cause(metav1.CauseTypeResourceVersionTooLarge, "", "Too large resource version")))
		}),
		[]Case{onCRDPerCase(Case{
			ID: "ST-14/invalid", Level: Must, Title: "each kind of invalid value has its own type of cause", Why: "forms distinguish missing from invalid values",
			Source: docErrors + "; " + docCRDs,
		}, object{"spec": invalidValuesSchema()}, checkCauseTypes)},
	)
}

// listUnreachedVersion returns a resourceVersion that the server has not reached.
func listUnreachedVersion(ctx context.Context, c collection) (string, error) {
	l, err := c.list(ctx, "")
	if err != nil {
		return "", err
	}
	return unreachedVersion(l.Metadata.ResourceVersion)
}

// invalidValuesSchema returns a schema with a field for each kind of invalid value.
func invalidValuesSchema() object {
	return objectSchema(object{
		"required":  objectSchema(object{"x": typeSchema("string")}).with("required", []string{"x"}),
		"duplicate": arraySchema(typeSchema("string")).with("x-kubernetes-list-type", "set"),
		"invalid":   typeSchema("integer").with("maximum", 5),
		"supported": typeSchema("string").with("enum", []string{"a"}),
		"long":      typeSchema("string").with("maxLength", 2),
		"many":      arraySchema(typeSchema("string")).with("maxItems", 1),
		"typed":     typeSchema("integer"),
		"forbidden": typeSchema("string").with("maxLength", 9).withRules(object{"rule": "self != 'x'", "reason": "FieldValueForbidden", "message": "no x"}),
	})
}

func checkCauseTypes(ctx context.Context, d crdPerCase, c collection) error {
	for _, one := range []struct {
		field string
		value any
		cause metav1.CauseType
		at    string // the rest of the field path
	}{
		{"required", object{}, metav1.CauseTypeFieldValueRequired, ".x"},
		{"duplicate", []string{"a", "a"}, metav1.CauseTypeFieldValueDuplicate, "[1]"},
		{"invalid", 6, metav1.CauseTypeFieldValueInvalid, ""},
		{"supported", "b", metav1.CauseTypeFieldValueNotSupported, ""},
		{"long", strings.Repeat("a", 3), metav1.CauseTypeTooLong, ""},
		{"many", []string{"a", "b"}, metav1.CauseTypeTooMany, ""},
		{"typed", "a", metav1.CauseTypeTypeInvalid, ""},
		{"forbidden", "x", metav1.CauseTypeForbidden, ""},
	} {
		want := cause(one.cause, "spec."+one.field+one.at, "")
		if err := d.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{one.field: one.value})), code(422), hasReason(metav1.StatusReasonInvalid), hasCause(want)); err != nil {
			return err
		}
	}
	return nil
}
