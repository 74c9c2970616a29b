package soak

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/watchguarantees"
)

// objectFields has the fields of an object that checkInvariants compares.
type objectFields struct {
	Metadata metav1.ObjectMeta
	Template any // of a PodTemplate
	Spec     any
	Status   any
}

// checkInvariants checks a change of an object. The uid and the creation time stay the same. The
// generation starts at 1, if the kind has one, and increases with changes of the spec and, for
// Deployments, of the annotations. The writer is in the managed fields.
func checkInvariants(k harness.Kind, c watchguarantees.Change) (violations []string) {
	if c.New == nil {
		return nil
	}
	var was, is objectFields
	report := func(format string, args ...any) {
		violations = append(violations, fmt.Sprintf("invalid change: "+format+": %v, before %v", append(args, c.New, c.Old)...))
	}
	if err := json.Unmarshal([]byte(c.New.Content), &is); err != nil {
		report("%v", err)
	}
	generation := int64(1)
	if k.Name == "ConfigMap" || k.Name == "ServiceAccount" {
		generation = 0 // these kinds have none
	}
	if c.Old != nil {
		if err := json.Unmarshal([]byte(c.Old.Content), &was); err != nil {
			report("%v", err)
		}
		if generation = was.Metadata.Generation; countsInGeneration(k, was, is) {
			generation++
		}
		if was.Metadata.UID != is.Metadata.UID {
			report("another uid")
		}
		if !was.Metadata.CreationTimestamp.Equal(&is.Metadata.CreationTimestamp) {
			report("another creationTimestamp")
		}
		if equality.Semantic.DeepEqual(was, is) {
			report("nothing changed")
		}
	} else if is.Status != nil && k.Scalable && len(is.Status.(map[string]any)) > 0 {
		report("created with a status")
	}
	if is.Metadata.Generation != generation {
		report("generation %d, not %d", is.Metadata.Generation, generation)
	}
	if is.Metadata.UID == "" || is.Metadata.CreationTimestamp.IsZero() || len(is.Metadata.ManagedFields) == 0 {
		report("without uid, creationTimestamp or managedFields")
	}
	return violations
}

// countsInGeneration reports whether the generation increases with a change.
func countsInGeneration(k harness.Kind, was, is objectFields) bool {
	return !equality.Semantic.DeepEqual(was.Spec, is.Spec) || !equality.Semantic.DeepEqual(was.Template, is.Template) ||
		k.Name == "Deployment" && !equality.Semantic.DeepEqual(was.Metadata.Annotations, is.Metadata.Annotations)
}
