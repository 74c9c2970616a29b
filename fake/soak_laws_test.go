package fakeapi_test

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lawful is an object as far as the rules of its life are about it.
type lawful struct {
	Metadata metav1.ObjectMeta
	Template any // of a PodTemplate
	Spec     any
	Status   any
}

// unlawful tells what is wrong with what became of an object: its uid and the time of its
// creation stay, its generation, if it has one, begins with 1 and counts the changes of its spec (of a
// Deployment also those of its annotations), and whoever changes it is among its managers.
func unlawful(k kind, c change) (complaints []string) {
	if c.is == nil {
		return nil
	}
	var was, is lawful
	complain := func(format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf("unlawful: "+format+": %v, before %v", append(args, c.is, c.was)...))
	}
	if err := json.Unmarshal([]byte(c.is.content), &is); err != nil {
		complain("%v", err)
	}
	generation := int64(1)
	if k.name == "ConfigMap" || k.name == "ServiceAccount" {
		generation = 0 // they have none
	}
	if c.was != nil {
		if err := json.Unmarshal([]byte(c.was.content), &was); err != nil {
			complain("%v", err)
		}
		if generation = was.Metadata.Generation; respecified(k, was, is) {
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
	} else if is.Status != nil && k.scaled && len(is.Status.(map[string]any)) > 0 {
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

// respecified reports whether the difference is one that the generation counts.
func respecified(k kind, was, is lawful) bool {
	return !equality.Semantic.DeepEqual(was.Spec, is.Spec) || !equality.Semantic.DeepEqual(was.Template, is.Template) ||
		k.name == "Deployment" && !equality.Semantic.DeepEqual(was.Metadata.Annotations, is.Metadata.Annotations)
}
