package controllers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditions returns the conditions of a terminating namespace, with the reasons and messages of
// the namespace controller. Conditions of other types are unchanged.
func conditions(have []corev1.NamespaceCondition, left *remaining, at time.Time) []corev1.NamespaceCondition {
	now := metav1.NewTime(at.Truncate(time.Second))
	for _, want := range []corev1.NamespaceCondition{
		discoveryFailure(left),
		falseCondition(corev1.NamespaceDeletionGVParsingFailure, "ParsedGroupVersions", "All legacy kube types successfully parsed"),
		contentFailure(left.failed),
		contentRemaining(left.objects),
		finalizersRemaining(left.finalizers),
	} {
		i := slices.IndexFunc(have, func(c corev1.NamespaceCondition) bool { return c.Type == want.Type })
		if i < 0 {
			want.LastTransitionTime = now
			have = append(have, want)
			continue
		}
		want.LastTransitionTime = have[i].LastTransitionTime
		if have[i].Status != want.Status {
			want.LastTransitionTime = now
		}
		have[i] = want
	}
	return have
}

func discoveryFailure(left *remaining) corev1.NamespaceCondition {
	err := left.discoveryError()
	if err == nil {
		return falseCondition(corev1.NamespaceDeletionDiscoveryFailure, "ResourcesDiscovered", "All resources successfully discovered")
	}
	return trueCondition(corev1.NamespaceDeletionDiscoveryFailure, "DiscoveryFailed",
		fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(left.undiscovered), err))
}

func contentFailure(failed []error) corev1.NamespaceCondition {
	if len(failed) == 0 {
		return falseCondition(corev1.NamespaceDeletionContentFailure, "ContentDeleted", "All content successfully deleted, may be waiting on finalization")
	}
	var texts []string
	for _, err := range failed {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	return trueCondition(corev1.NamespaceDeletionContentFailure, "ContentDeletionFailed",
		fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(failed), strings.Join(texts, ", ")))
}

func contentRemaining(objects map[string]int) corev1.NamespaceCondition {
	if len(objects) == 0 {
		return falseCondition(corev1.NamespaceContentRemaining, "ContentRemoved", "All content successfully removed")
	}
	return trueCondition(corev1.NamespaceContentRemaining, "SomeResourcesRemain",
		"Some resources are remaining: "+countsText(objects, "%s has %d resource instances"))
}

func finalizersRemaining(finalizers map[string]int) corev1.NamespaceCondition {
	if len(finalizers) == 0 {
		return falseCondition(corev1.NamespaceFinalizersRemaining, "ContentHasNoFinalizers", "All content-preserving finalizers finished")
	}
	return trueCondition(corev1.NamespaceFinalizersRemaining, "SomeFinalizersRemain",
		"Some content in the namespace has finalizers remaining: "+countsText(finalizers, "%s in %d resource instances"))
}

// countsText returns the counts as text, sorted.
func countsText(counts map[string]int, format string) string {
	texts := make([]string, 0, len(counts))
	for what, n := range counts {
		texts = append(texts, fmt.Sprintf(format, what, n))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

func falseCondition(kind corev1.NamespaceConditionType, reason, message string) corev1.NamespaceCondition {
	return corev1.NamespaceCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message}
}

func trueCondition(kind corev1.NamespaceConditionType, reason, message string) corev1.NamespaceCondition {
	return corev1.NamespaceCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message}
}
