package soak

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/watchguarantees"
)

// objectFields is an object as far as the rules of its life are about it.
type objectFields struct {
	Metadata metav1.ObjectMeta
	Template any // of a PodTemplate
	Spec     any
	Status   any
}

// checkInvariants tells what is wrong with what became of an object: its uid and the time of its
// creation stay, its generation, if it has one, begins with 1 and counts the changes of its spec (of a
// Deployment also those of its annotations), and whoever changes it is among its managers.
func checkInvariants(k harness.Kind, c watchguarantees.Change) (complaints []string) {
	if c.New == nil {
		return nil
	}
	var was, is objectFields
	complain := func(format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf("unlawful: "+format+": %v, before %v", append(args, c.New, c.Old)...))
	}
	if err := json.Unmarshal([]byte(c.New.Content), &is); err != nil {
		complain("%v", err)
	}
	generation := int64(1)
	if k.Name == "ConfigMap" || k.Name == "ServiceAccount" {
		generation = 0 // they have none
	}
	if c.Old != nil {
		if err := json.Unmarshal([]byte(c.Old.Content), &was); err != nil {
			complain("%v", err)
		}
		if generation = was.Metadata.Generation; countsInGeneration(k, was, is) {
			generation++
		}
		if was.Metadata.UID != is.Metadata.UID {
			complain("another uid")
		}
		if !was.Metadata.CreationTimestamp.Equal(&is.Metadata.CreationTimestamp) {
			complain("another creationTimestamp")
		}
		if equality.Semantic.DeepEqual(was, is) {
			complain("a change of nothing")
		}
	} else if is.Status != nil && k.Scalable && len(is.Status.(map[string]any)) > 0 {
		complain("created with a status")
	}
	if is.Metadata.Generation != generation {
		complain("generation %d, not %d", is.Metadata.Generation, generation)
	}
	if is.Metadata.UID == "" || is.Metadata.CreationTimestamp.IsZero() || len(is.Metadata.ManagedFields) == 0 {
		complain("without uid, creationTimestamp or managedFields")
	}
	return complaints
}

// countsInGeneration reports whether the difference is one that the generation counts.
func countsInGeneration(k harness.Kind, was, is objectFields) bool {
	return !equality.Semantic.DeepEqual(was.Spec, is.Spec) || !equality.Semantic.DeepEqual(was.Template, is.Template) ||
		k.Name == "Deployment" && !equality.Semantic.DeepEqual(was.Metadata.Annotations, is.Metadata.Annotations)
}
