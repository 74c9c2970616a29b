package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Level is the requirement level of a rule for a server that claims to be a Kubernetes API server.
// Levels are ordered: May < Should < Must.
type Level int

// The requirement levels, in the sense of RFC 2119.
const (
	// May marks optional behavior. Its cases accept both choices, and check that the server is
	// consistent about its choice.
	May Level = iota
	// Should marks behavior of kube-apiserver that clients expect although the documentation does
	// not promise it.
	Should
	// Must marks behavior that the documentation promises, or that clients are known to depend on.
	Must
)

// String returns the level as it is written in the rules: MAY, SHOULD or MUST.
func (l Level) String() string {
	switch l {
	case May:
		return "MAY"
	case Should:
		return "SHOULD"
	case Must:
		return "MUST"
	}
	return fmt.Sprintf("Level(%d)", int(l))
}

// Case is one statement about a server that the suite can check.
type Case struct {
	// ID is the number of the rule ("RS-21"), followed by a slash and a word if the rule has
	// several cases ("PV-06/custom").
	ID string
	// Level is the level of the rule.
	Level Level
	// Title is the statement, in one line.
	Title string
	// Why states what fails in clients if the statement is false.
	Why string
	// Source names the document, KEP or source file that the rule is from.
	Source string

	check checkFunc
	takes time.Duration // time that the case waits for timers of the server, in addition to Config.Timeout
	alone bool          // whether the case affects others, or is affected by them, on a correct server
	stage string        // the case runs only beside cases with the same value
}

// checkFunc checks a server for a case. It returns nil if the server is correct, the error of
// [session.skipf] if the server cannot be judged, and another error if it is not correct.
type checkFunc func(ctx context.Context, s *session) error

// Rule returns the number of the rule of the case, which is the ID up to the first slash.
func (c Case) Rule() string {
	rule, _, _ := strings.Cut(c.ID, "/")
	return rule
}

// Cases returns all cases of the suite, sorted by ID. The caller may modify the slice.
func Cases() []Case {
	return sortByID(unsortedCases())
}

func sortByID(cases []Case) []Case {
	slices.SortFunc(cases, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) })
	return cases
}

func unsortedCases() []Case {
	return slices.Concat(
		pathCases(),
		pathWatchCases(),
		pathErrorCases(),
		nameCases(),
		nameSyntaxCases(),
		metaCases(),
		metaGenerationCases(),
		metaSyntaxCases(),
		metaListCases(),
		concurrencyCases(),
		concurrencyPatchCases(),
		createCases(),
		createBodyCases(),
		getCases(),
		listCases(),
		chunkCases(),
		chunkContentCases(),
		chunkTokenCases(),
		chunkExpiredCases(),
		versionCases(),
		versionTableCases(),
		versionErrorCases(),
		watchCases(),
		watchDeletionCases(),
		watchStartCases(),
		watchSelectorCases(),
		watchFormatCases(),
		webSocketCases(),
		bookmarkCases(),
		streamCases(),
		streamErrorCases(),
		streamFormatCases(),
		expiryCases(),
		timeoutCases(),
		labelSelectorCases(),
		fieldSelectorCases(),
		selectorUseCases(),
		deleteCases(),
		deleteOptionCases(),
		deleteGraceCases(),
		deleteCollectionCases(),
		namespaceCases(),
		namespaceDeletionCases(),
		statusCases(),
		scaleCases(),
		subresourceCases(),
		patchCases(),
		jsonPatchCases(),
		strategicPatchCases(),
		applyCases(),
		applyConflictCases(),
		applyManagedCases(),
		applySchemaCases(),
		applyCustomCases(),
		fieldValidationCases(),
		fieldValidationYAMLCases(),
		dryRunCases(),
		warningCases(),
		errorCases(),
		discoveryCases(),
		aggregatedCases(),
		healthCases(),
		openAPICases(),
		tableCases(),
		partialCases(),
		reviewCases(),
		accessCases(),
		protobufCases(),
		cborCases(),
		negotiationCases(),
		compressionCases(),
		httpCases(),
		crdCases(),
		crdDeletionCases(),
		pruneCases(),
		valueCases(),
		defaultCases(),
		celRuleCases(),
		ratchetCases(),
		crdNameCases(),
		conversionCases(),
		reasonCases(),
		derivedRuleCases(),
		customCases(),
		customDocumentCases(),
		builtinDefaultCases(),
		builtinValidationCases(),
		webhookRuleCases(),
		webhookSelectorCases(),
		webhookReviewCases(),
		webhookMutationCases(),
		webhookDenialCases(),
		webhookFailureCases(),
		webhookOtherCases(),
		webhookConfigCases(),
		policyCases(),
		policyMatchCases(),
		policyParamCases(),
		policyExpressionCases(),
		policyLibraryCases(),
		policyMutationCases(),
		policyPatchCases(),
		policyKindCases(),
		policyStatusCases(),
		accessVerbCases(),
		accessRuleCases(),
		accessScopeCases(),
		accessSubjectCases(),
		accessBindingCases(),
		accessBootstrapCases(),
		accessAggregationCases(),
		accessEscalationCases(),
		accessReviewCases(),
		accessImpersonationCases(),
	)
}

// collectionCheck checks a server for a case on a collection.
type collectionCheck func(ctx context.Context, s *session, c collection) error

// onCollection returns a case that runs on the collection that a function creates.
func onCollection(give func(*session, context.Context) (collection, error), c Case, check collectionCheck) Case {
	c.check = func(ctx context.Context, s *session) error {
		in, err := give(s, ctx)
		if err != nil {
			return err
		}
		return check(ctx, s, in)
	}
	return c
}

// onSecrets returns a case that runs on Secrets in a new namespace.
func onSecrets(c Case, check collectionCheck) Case {
	return onCollection(func(s *session, ctx context.Context) (collection, error) { return s.secrets(ctx) }, c, check)
}

// onBasicCRs returns a case that runs on objects of crdBasic in a new namespace.
func onBasicCRs(c Case, check collectionCheck) Case {
	return onCollection(func(s *session, ctx context.Context) (collection, error) { return s.basicCRs(ctx) }, c, check)
}

// withPrecondition returns a case that calls first before its check. An error of first ends the
// case.
func withPrecondition(first func(context.Context, *session) error, c Case) Case {
	check := c.check
	c.check = func(ctx context.Context, s *session) error {
		if err := first(ctx, s); err != nil {
			return err
		}
		return check(ctx, s)
	}
	return c
}

// ifServed returns a case that is skipped if the server does not serve a resource or subresource.
func ifServed(groupVersion, name string, c Case) Case {
	return withPrecondition(func(ctx context.Context, s *session) error { return s.skipUnlessServed(ctx, groupVersion, name) }, c)
}

// onStatus returns two cases like onBoth, on types with a status and a generation.
func onStatus(c Case, check collectionCheck) []Case {
	return onEitherType(c, (*session).budgets, check)
}

// onGeneration returns two cases like onBoth, on types with a generation.
func onGeneration(c Case, check collectionCheck) []Case {
	return onEitherType(c, (*session).policies, check)
}

// typedAndCustom returns the cases ID/typed and ID/custom of one rule, without their checks.
func typedAndCustom(c Case) (typed, custom Case) {
	typed, custom = c, c
	typed.ID += "/typed"
	custom.ID += "/custom"
	return typed, custom
}

// onEitherType returns the cases ID/typed, on the given type, and ID/custom.
func onEitherType(c Case, typedResource func(*session, context.Context) (collection, error), check collectionCheck) []Case {
	typed, custom := typedAndCustom(c)
	return []Case{onCollection(typedResource, typed, check), onBasicCRs(custom, check)}
}

// onBoth returns two cases of one rule, ID/typed on a built-in type and ID/custom on a custom
// resource, because a real server serves them with different code.
func onBoth(c Case, check collectionCheck) []Case {
	typed, custom := typedAndCustom(c)
	return []Case{onSecrets(typed, check), onBasicCRs(custom, check)}
}
