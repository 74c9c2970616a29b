package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Level says how binding a rule is towards a server that claims to be a Kubernetes API server.
// Levels are ordered: May < Should < Must.
type Level int

// The levels, in the sense of RFC 2119.
const (
	// May marks behaviour that a server is free to show. Its cases accept both choices and check that
	// the chosen one is carried through properly.
	May Level = iota
	// Should marks what kube-apiserver does and clients have come to expect, without a promise in the documents.
	Should
	// Must marks what the documents promise, or what clients are known to break on.
	Must
)

// String gives the level as the rules spell it: MAY, SHOULD, MUST.
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

// Case is one checkable statement about a server.
type Case struct {
	// ID is the rule's number ("RS-21"), followed by a slash and a word where a rule has several cases ("PV-06/custom").
	ID string
	// Level is the level of the rule.
	Level Level
	// Title is the statement itself, in one line.
	Title string
	// Why says what breaks in a client when it does not hold.
	Why string
	// Source names the document, KEP or piece of kube-apiserver that the rule was read from.
	Source string

	check checkFunc
	takes time.Duration // what the server does by the clock has to be waited for this long, on top of Config.Timeout
}

// checkFunc does the work of a case. It returns nil when the server behaved, the error of [session.skipf] when the
// server has nothing to judge, and any other error when it misbehaved.
type checkFunc func(ctx context.Context, s *session) error

// Rule is the ID without the part after the slash: the number of the rule that the case belongs to.
func (c Case) Rule() string {
	rule, _, _ := strings.Cut(c.ID, "/")
	return rule
}

// Cases gives every case of the suite, sorted by ID. The slice is the caller's own.
func Cases() []Case {
	all := slices.Concat(
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
	)
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// collectionCheck is the check of a case that is told which kind of object to try itself on.
type collectionCheck func(ctx context.Context, s *session, c collection) error

// onSecrets makes a case that runs on Secrets in a fresh namespace.
func onSecrets(c Case, check collectionCheck) Case {
	c.check = func(ctx context.Context, s *session) error {
		in, err := s.secrets(ctx)
		if err != nil {
			return err
		}
		return check(ctx, s, in)
	}
	return c
}

// onBasicCRs makes a case that runs on the suite's custom resource in a fresh namespace.
func onBasicCRs(c Case, check collectionCheck) Case {
	c.check = func(ctx context.Context, s *session) error {
		in, err := s.basicCRs(ctx)
		if err != nil {
			return err
		}
		return check(ctx, s, in)
	}
	return c
}

// withPrecondition makes a case that looks first whether the server has what it is about, and is skipped if that says so.
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

// ifServed makes a case that is skipped where the server does not have the resource or subresource that it is about.
func ifServed(groupVersion, name string, c Case) Case {
	return withPrecondition(func(ctx context.Context, s *session) error { return s.skipUnlessServed(ctx, groupVersion, name) }, c)
}

// onStatus makes two cases of one rule, as both does, on objects with a status and a generation.
func onStatus(c Case, check collectionCheck) []Case {
	return onEitherType(c, (*session).budgets, check)
}

// onGeneration makes two cases of one rule, as both does, on objects with a generation.
func onGeneration(c Case, check collectionCheck) []Case {
	return onEitherType(c, (*session).policies, check)
}

// onEitherType makes the cases ID/typed, on this typed resource, and ID/custom.
func onEitherType(c Case, typedResource func(*session, context.Context) (collection, error), check collectionCheck) []Case {
	typed, custom := c, c
	typed.ID += "/typed"
	custom.ID += "/custom"
	typed.check = func(ctx context.Context, s *session) error {
		in, err := typedResource(s, ctx)
		if err != nil {
			return err
		}
		return check(ctx, s, in)
	}
	return []Case{typed, onBasicCRs(custom, check)}
}

// onBoth makes two cases of one rule, ID/typed on a built-in type and ID/custom on a custom resource, because a real server answers
// them with different machinery.
func onBoth(c Case, check collectionCheck) []Case {
	typed, custom := c, c
	typed.ID += "/typed"
	custom.ID += "/custom"
	return []Case{onSecrets(typed, check), onBasicCRs(custom, check)}
}
