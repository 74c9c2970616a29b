package handlers

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// checkNamespacePreconditions are the preconditions of a namespace's deletion, which a
// real server looks at in code of its own, with words of its own (DL-10, DL-11).
func checkNamespacePreconditions(m metav1.Object, p *metav1.Preconditions) error {
	refuse := func(what, asked, have string) error {
		//lint:ignore ST1005 a real server says it so
		says := fmt.Errorf("Precondition failed: %s in precondition: %s, %s in object meta: %s", what, asked, what, have)
		return apierrors.NewConflict(namespacesResource, m.GetName(), says)
	}
	switch {
	case p.UID != nil && *p.UID != m.GetUID():
		return refuse("UID", string(*p.UID), string(m.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion():
		return refuse("ResourceVersion", *p.ResourceVersion, m.GetResourceVersion())
	}
	return nil
}
