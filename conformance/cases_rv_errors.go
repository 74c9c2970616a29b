package conformance

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docListOptions = "apimachinery apis/meta/internalversion/validation"

// versionErrorCases returns the cases about combinations of list parameters that are rejected
// (RS-18 to RS-27).
func versionErrorCases() []Case {
	cell := func(id, title, why string, queries []string, want failure) []Case {
		return onBoth(Case{ID: id, Level: Must, Title: title, Why: why, Source: docTable + "; " + docListOptions}, checkInvalidQueries(queries, want))
	}
	const contradiction = "the client relies on a guarantee that it does not get"
	const paged = "&limit=1"
	unset := []string{"?resourceVersionMatch=Exact", "?resourceVersionMatch=Exact&limit=1"}
	unsetNotOlder := []string{"?resourceVersionMatch=NotOlderThan", "?resourceVersionMatch=NotOlderThan" + paged}
	noVersion := invalidListOption("resourceVersionMatch", metav1.CauseTypeForbidden,
		"resourceVersionMatch is forbidden unless resourceVersion is provided")
	return slices.Concat(
		onBoth(Case{
			ID: "RS-18", Level: Must, Title: "continue with a resourceVersion other than 0 is a bad request",
			Why: "the token already contains the state", Source: docTable,
		}, checkInvalidWithToken([]string{"&resourceVersion=1"}, failure{
			code: 400, reason: metav1.StatusReasonBadRequest, message: "specifying resource version is not allowed when using continue",
		})),
		cell("RS-19", "Exact without resourceVersion is invalid", contradiction, unset, noVersion),
		cell("RS-20", "Exact at resourceVersion 0 is invalid", contradiction,
			[]string{"?resourceVersionMatch=Exact&resourceVersion=0", "?resourceVersionMatch=Exact&resourceVersion=0" + paged},
			invalidListOption("resourceVersionMatch", metav1.CauseTypeForbidden, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)),
		cell("RS-22", "NotOlderThan without resourceVersion is invalid", contradiction, unsetNotOlder, noVersion),
		onBoth(Case{
			ID: "RS-25/version", Level: Must, Title: "resourceVersionMatch with continue is invalid",
			Why: "the token already contains the state", Source: docTable + "; " + docListOptions,
		}, checkInvalidWithToken([]string{
			"&resourceVersionMatch=Exact&resourceVersion=1", "&resourceVersionMatch=NotOlderThan&resourceVersion=0", "&resourceVersionMatch=NotOlderThan&resourceVersion=1",
		}, invalidListOption("resourceVersionMatch", metav1.CauseTypeForbidden, "resourceVersionMatch is forbidden when continue is provided"))),
		onBoth(Case{
			ID: "RS-25/unset", Level: Must, Title: "resourceVersionMatch with continue and without resourceVersion is invalid for both reasons",
			Why: "the token already contains the state", Source: docTable + "; " + docListOptions,
		}, checkInvalidWithToken([]string{"&resourceVersionMatch=Exact", "&resourceVersionMatch=NotOlderThan"}, failure{
			code: 422, reason: metav1.StatusReasonInvalid, details: listOptionsDetails(),
			contains: "[resourceVersionMatch: Forbidden: ",
			causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeForbidden, Field: "resourceVersionMatch", Message: "resourceVersionMatch is forbidden unless resourceVersion is provided"},
				{Type: metav1.CauseTypeForbidden, Field: "resourceVersionMatch", Message: "resourceVersionMatch is forbidden when continue is provided"},
			},
		})),
		cell("RS-26", "an unknown resourceVersionMatch is invalid, and the error lists the known values", contradiction,
			[]string{
				"?resourceVersionMatch=Nonsense&resourceVersion=1", "?resourceVersionMatch=Nonsense&resourceVersion=0",
				"?resourceVersionMatch=Nonsense&resourceVersion=1" + paged,
			},
			invalidListOption("resourceVersionMatch", metav1.CauseTypeFieldValueNotSupported,
				`Unsupported value: "Nonsense": supported values: "Exact", "NotOlderThan", ""`)),
		cell("RS-27", "sendInitialEvents on a list is invalid", "the parameter is for watches; a list would look like initial events",
			[]string{"?sendInitialEvents=true", "?sendInitialEvents=false", "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0"},
			invalidListOption("sendInitialEvents", metav1.CauseTypeForbidden, "sendInitialEvents is forbidden for list")),
	)
}

// listOptionsDetails returns the details of a Status about invalid query parameters.
func listOptionsDetails() *metav1.StatusDetails {
	return &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "ListOptions"}
}

// invalidListOption is the failure of a list with one invalid parameter.
func invalidListOption(parameter string, cause metav1.CauseType, text string) failure {
	return failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: listOptionsDetails(),
		contains: `ListOptions.meta.k8s.io "" is invalid: ` + parameter + ": ",
		causes:   []metav1.StatusCause{{Type: cause, Field: parameter, Message: text}},
	}
}

func checkInvalidQueries(queries []string, want failure) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for _, query := range queries {
			if err := s.expect(ctx, get(c.path()+query), want.check); err != nil {
				return err
			}
		}
		return nil
	}
}

// checkInvalidWithToken sends these parameters together with a valid continue token.
func checkInvalidWithToken(parameters []string, want failure) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for _, name := range []string{"a", "b"} {
			if _, err := c.create(ctx, c.object(name)); err != nil {
				return err
			}
		}
		l, err := c.list(ctx, "?limit=1")
		if err != nil {
			return err
		}
		if l.Metadata.Continue == "" {
			return l.response.errorf("expected a continue token on the first of two pages")
		}
		for _, more := range parameters {
			if err := s.expect(ctx, get(c.path()+"?continue="+l.Metadata.Continue+more), want.check); err != nil {
				return err
			}
		}
		return nil
	}
}
