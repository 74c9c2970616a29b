package scenario

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Delete deletes an object, which must be there.
func Delete(ref Ref) Step { return remove{ref} }

type remove struct{ ref Ref }

func parseDelete(a *args) (Step, error) {
	ref, err := onlyRef(a)
	return remove{ref}, err
}

func (s remove) String() string { return "delete " + s.ref.String() }

func (s remove) Run(ctx context.Context, e *Env) error {
	ctx, cancel := e.patience(ctx)
	defer cancel()
	resource, err := e.resource(s.ref.Kind, s.ref.Namespace)
	if err != nil {
		return err
	}
	return answered(ctx, resource.Delete(ctx, s.ref.Name, metav1.DeleteOptions{}))
}
