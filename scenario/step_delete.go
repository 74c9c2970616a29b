package scenario

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Delete deletes an object, which must exist.
func Delete(ref Ref) Step { return deleteStep{ref} }

type deleteStep struct{ ref Ref }

func (kinds) Delete() stepKind {
	return stepKind{"delete KIND/NAME [-n NAMESPACE]", parseDelete}
}

func parseDelete(a *args) (Step, error) {
	ref, err := parseRefOnly(a)
	return deleteStep{ref}, err
}

func (s deleteStep) String() string { return "delete " + s.ref.String() }

func (s deleteStep) Run(ctx context.Context, e *Env) error {
	ctx, cancel := e.withRequestTimeout(ctx)
	defer cancel()
	resource, err := e.resource(s.ref.Kind, s.ref.Namespace)
	if err != nil {
		return err
	}
	return requestError(ctx, resource.Delete(ctx, s.ref.Name, metav1.DeleteOptions{}))
}
