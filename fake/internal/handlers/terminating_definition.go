package handlers

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// checkServed returns an error for a new custom object whose CustomResourceDefinition is being
// deleted.
func (a *API) checkServed(res *resource.Resource, m metav1.Object) error {
	if !a.types.IsTerminating(res) {
		return nil
	}
	return apierrors.NewForbidden(res.GroupResource(), m.GetName(), errors.New(
		"create not allowed while custom resource definition is terminating"))
}
