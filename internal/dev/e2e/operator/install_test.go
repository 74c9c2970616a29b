package operator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	"example.com/fakeapi/internal/dev/e2e/internal/server"
	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

var sitesV1 = hostingv1.GroupVersion.WithResource("sites")

// An installed CRD becomes established. A REST mapper that did not find the resource before finds
// it afterwards.
func TestInstall(t *testing.T) {
	b := newTestEnv(t, server.Start(t))
	_, err := b.RESTMapper().RESTMapping(schema.GroupKind{Group: "hosting.example.com", Kind: "Site"}, "v1")
	require.True(t, meta.IsNoMatchError(err), "%v", err)
	var sites hostingv1.SiteList
	require.True(t, meta.IsNoMatchError(b.List(t.Context(), &sites)))

	b.install()
	mapping, err := b.RESTMapper().RESTMapping(schema.GroupKind{Group: "hosting.example.com", Kind: "Site"}, "v1")
	require.NoError(t, err, "the mapper created before the CRD")
	require.Equal(t, sitesV1, mapping.Resource)
	require.Equal(t, meta.RESTScopeNameNamespace, mapping.Scope.Name())
	require.NoError(t, b.List(t.Context(), &sites))

	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, b.Get(t.Context(), client.ObjectKey{Name: sitesCRD}, crd))
	require.Equal(t, []string{"v1"}, crd.Status.StoredVersions)
	require.Equal(t, crd.Spec.Names, crd.Status.AcceptedNames)
	require.Equal(t, apiextensionsv1.NoneConverter, crd.Spec.Conversion.Strategy, "by default")
	for _, want := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.NamesAccepted, apiextensionsv1.Established} {
		require.True(t, hasCondition(crd, want), "%s in %v", want, crd.Status.Conditions)
	}

	_, err = envtest.InstallCRDs(b.config, installed())
	require.NoError(t, err, "installing again updates the CRD")
	again := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, b.Get(t.Context(), client.ObjectKey{Name: sitesCRD}, again))
	require.Equal(t, crd.UID, again.UID)
	require.Equal(t, crd.Generation, again.Generation, "the update does not change the spec")
}

func hasCondition(crd *apiextensionsv1.CustomResourceDefinition, of apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	for _, c := range crd.Status.Conditions {
		if c.Type == of {
			return c.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// A CRD with a validation rule that exceeds the cost limit is rejected.
func TestInstallInvalidCRD(t *testing.T) {
	b := newTestEnv(t, server.Start(t))
	options := installed()
	require.NoError(t, envtest.ReadCRDFiles(&options))
	spec := options.CRDs[0].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.XValidations[0].MessageExpression = "string(self.replicas) + ' are more than ' + string(self.autoscale.max)"
	options.CRDs[0].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	err := envtest.CreateCRDs(b.config, options.CRDs)
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].messageExpression: "+
		"Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x")
	require.NoError(t, b.checkNotFound(t.Context(), options.CRDs[0]))
}

// Deleting a CRD deletes all instances. While an instance with a finalizer remains, the CRD remains
// and no instance can be created.
func TestUninstallDeletesInstances(t *testing.T) {
	b := withSites(t)
	b.create("free")
	held := b.create("held", func(s *hostingv1.Site) { s.Finalizers = []string{"example.com/hold"} })
	require.NoError(t, envtest.UninstallCRDs(b.config, installed()))

	b.requireEventually(held, func() error {
		if held.DeletionTimestamp.IsZero() {
			return errors.New("the site has no deletionTimestamp")
		}
		return b.checkNotFound(t.Context(), b.site("free"))
	})
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, b.Get(t.Context(), client.ObjectKey{Name: sitesCRD}, crd))
	require.False(t, crd.DeletionTimestamp.IsZero())
	require.Equal(t, []string{"customresourcecleanup.apiextensions.k8s.io"}, crd.Finalizers)
	require.True(t, hasCondition(crd, apiextensionsv1.Terminating), "%v", crd.Status.Conditions)
	err := b.Create(t.Context(), b.site("late"))
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "create not allowed while custom resource definition is terminating")

	held.Finalizers = nil
	require.NoError(t, b.Update(t.Context(), held))
	poll.UntilNoError(t, func(ctx context.Context) error { return b.checkNotFound(ctx, crd) })
	poll.Until(t, "the resource to be removed", func() bool {
		err := b.Get(t.Context(), client.ObjectKeyFromObject(held), held)
		return apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
	})
}
