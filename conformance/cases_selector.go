package conformance

import (
	"context"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docLabels = "Kubernetes documentation, Labels and Selectors"
	docParse  = "apimachinery labels"
)

// labelSelectorCases returns the cases about the syntax of label selectors (SE-01 to SE-03, SE-09,
// SE-11).
func labelSelectorCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "SE-01", Level: Must, Title: "a label selector supports =, ==, !=, in, notin, a key, !key, and commas for AND",
			Why:    "services, controllers and users select by them",
			Source: docLabels,
		}, checkLabelSelectors([]selection{
			{"app=x", "a"}, {"app==x", "a"}, {"app!=x", "b c d"},
			{"app in (x,y)", "a b"}, {"app in (y)", "b"}, {"app notin (x, y)", "c d"},
			{"app", "a b"}, {"!app", "c d"}, {"tier", "a c"},
			{"app=x,tier=1", "a"}, {"app=y,tier=1", ""}, {"app,!tier", "b"}, {"app in (x,y),tier", "a"}, {"!app,!tier", "d"},
		})),
		onBoth(Case{
			ID: "SE-01/empty", Level: Must, Title: "a label with an empty value exists and can be selected",
			Why:    "node roles are labels without a value",
			Source: docLabels,
		}, func(ctx context.Context, s *session, c collection) error {
			for name, labels := range sortedByKey(map[string]object{"a": {"role": ""}, "b": {"role": "x"}, "c": {}}) {
				if _, err := c.create(ctx, c.object(name).withMeta("labels", labels)); err != nil {
					return err
				}
			}
			return expectSelected(ctx, c, "labelSelector", []selection{
				{"role", "a b"}, {"!role", "c"}, {"role=", "a"}, {"role in (,y)", "a"}, {"role!=", "b c"},
			})
		}),
		onBoth(Case{
			ID: "SE-02", Level: Must, Title: "!= and notin match objects without the label too",
			Why:    "an object without the label does not have the value",
			Source: docLabels,
		}, checkLabelSelectors([]selection{{"tier!=1", "b c d"}, {"tier notin (1)", "b c d"}, {"tier!=2,app!=y", "a d"}})),
		onBoth(Case{
			ID: "SE-03", Level: Must, Title: "a label selector that cannot be parsed is a bad request",
			Why:    "the server would return everything or nothing",
			Source: docParse,
		}, checkInvalidSelectors("labelSelector", map[string]string{
			"i in ":      "unable to parse requirement: found '' expected: '('",
			"===":        "found '==', expected: !, identifier, or 'end of string'",
			"bad key!=1": "unable to parse requirement: found 'key', expected: in, notin, =, ==, !=, gt, lt",
			"k=a b":      "found 'b', expected: ',' or 'end of string'",
		})),
		onBoth(Case{
			ID: "SE-09", Level: Must, Title: "an empty selector matches everything",
			Why:    "generated clients send the parameters with their zero value",
			Source: docLabels,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			for _, query := range []string{"?labelSelector=", "?fieldSelector=", "?labelSelector=&fieldSelector="} {
				l, err := c.list(ctx, query)
				if err != nil {
					return err
				}
				if err := l.expectNames(fiveNames...); err != nil {
					return err
				}
			}
			return expectAddedThenEnd(ctx, c, "?watch=true&timeoutSeconds=3&labelSelector=&fieldSelector=", fiveNames...)
		})),
		onBoth(Case{
			ID: "SE-11", Level: Must, Title: "a label selector with an invalid key or value is a bad request",
			Why:    "it could never match",
			Source: docParse,
		}, checkInvalidSelectors("labelSelector", map[string]string{
			"k=" + strings.Repeat("v", 64):           `unable to parse requirement: values[0][k]: Invalid value: "` + strings.Repeat("v", 64) + `": must be no more than 63 bytes`,
			"k=bad_":                                 `unable to parse requirement: values[0][k]: Invalid value: "bad_": a valid label must be an empty string or consist of`,
			"k in (a,b/c)":                           `Invalid value: "b/c": a valid label must be an empty string or consist of`,
			"-k=v":                                   `Invalid value: "-k": name part must consist of alphanumeric characters`,
			"example.com/" + strings.Repeat("k", 64): "name part must be no more than 63 bytes",
		})),
	)
}

// selection is a selector with the names of the objects that it selects.
type selection struct{ selector, names string }

// checkLabelSelectors lists with selectors and four objects: a with app=x and tier=1, b with app=y,
// c with tier=2, and d without labels.
func checkLabelSelectors(selections []selection) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for name, labels := range sortedByKey(map[string]object{"a": {"app": "x", "tier": "1"}, "b": {"app": "y"}, "c": {"tier": "2"}, "d": {}}) {
			if _, err := c.create(ctx, c.object(name).withMeta("labels", labels)); err != nil {
				return err
			}
		}
		return expectSelected(ctx, c, "labelSelector", selections)
	}
}

// expectSelected lists with each selector.
func expectSelected(ctx context.Context, c collection, parameter string, selections []selection) error {
	for _, one := range selections {
		l, err := c.list(ctx, "?"+parameter+"="+url.QueryEscape(one.selector))
		if err != nil {
			return err
		}
		if err := l.expectNames(strings.Fields(one.names)...); err != nil {
			return err
		}
	}
	return nil
}

// checkInvalidSelectors lists with selectors that are rejected with messages that contain the
// values of the map.
func checkInvalidSelectors(parameter string, text map[string]string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for selector, message := range sortedByKey(text) {
			for _, mode := range []string{"", "&watch=true&timeoutSeconds=1"} {
				want := failure{code: 400, reason: metav1.StatusReasonBadRequest, contains: message}
				if err := s.expect(ctx, get(c.path()+"?"+parameter+"="+url.QueryEscape(selector)+mode), want.check); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
