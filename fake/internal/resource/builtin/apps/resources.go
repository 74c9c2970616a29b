// Package apps has the built-in types of the group apps.
package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
)

// Resources returns the types of apps. They have no field selectors of their own: the
// documentation lists status.replicas for replicasets, but a real server does not support it
// (kubernetes/kubernetes#135136).
func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "apps", Version: "v1", Plural: "controllerrevisions", Kind: "ControllerRevision", Namespaced: true,
			AllowUnconditionalUpdate: true,
			Validate:                 resource.Validation(validateControllerRevision),
			ValidateUpdate:           resource.UpdateValidation(validateControllerRevisionUpdate),
		},
		{
			Group: "apps", Version: "v1", Plural: "daemonsets", Kind: "DaemonSet", Namespaced: true,
			ShortNames: []string{"ds"}, Categories: []string{"all"}, Status: true,
			Subresources:             []resource.Subresource{daemonSetStatusSubresource()},
			AllowUnconditionalUpdate: true, HasGeneration: true,
			SetDefaults:          resource.Defaults(setDaemonSetDefaults),
			CheckConversion:      func(obj runtime.Object) error { return checkDaemonSet(obj.(*appsv1.DaemonSet)) },
			Canonicalize:         resource.Defaults(canonicalizeDaemonSet),
			PrepareForCreate:     resource.OnCreate(prepareDaemonSetForCreate),
			PrepareForUpdate:     resource.OnUpdate(prepareDaemonSetForUpdate),
			Validate:             resource.Validation(validateDaemonSet),
			ValidateUpdate:       resource.UpdateValidation(validateDaemonSetUpdate),
			ValidateStatusUpdate: resource.UpdateValidation(validateDaemonSetStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(daemonSetWarnings),
			WarningsOnUpdate:     resource.UpdateWarnings(daemonSetUpdateWarnings),
		},
		{
			Group: "apps", Version: "v1", Plural: "deployments", Kind: "Deployment", Namespaced: true,
			ShortNames: []string{"deploy"}, Categories: []string{"all"}, Status: true,
			Subresources:             []resource.Subresource{resource.ScaleSubresource(), deploymentStatusSubresource()},
			AllowUnconditionalUpdate: true, HasGeneration: true,
			GenerationCountsAnnotations: true, // a Deployment's controller copies them to its ReplicaSets
			SetDefaults:                 resource.Defaults(setDeploymentDefaults),
			CheckConversion:             func(obj runtime.Object) error { return checkDeployment(obj.(*appsv1.Deployment)) },
			Canonicalize:                resource.Defaults(canonicalizeDeployment),
			PrepareForCreate:            resource.OnCreate(prepareDeploymentForCreate),
			PrepareForUpdate:            resource.OnUpdate(prepareDeploymentForUpdate),
			Validate:                    resource.Validation(validateDeployment),
			ValidateUpdate:              resource.UpdateValidation(validateDeploymentUpdate),
			ValidateStatusUpdate:        resource.UpdateValidation(validateDeploymentStatusUpdate),
			WarningsOnCreate:            resource.CreateWarnings(deploymentWarnings),
			WarningsOnUpdate:            resource.UpdateWarnings(deploymentUpdateWarnings),
		},
		{
			Group: "apps", Version: "v1", Plural: "replicasets", Kind: "ReplicaSet", Namespaced: true,
			ShortNames: []string{"rs"}, Categories: []string{"all"}, Status: true,
			Subresources:             []resource.Subresource{resource.ScaleSubresource()},
			AllowUnconditionalUpdate: true, HasGeneration: true,
			SetDefaults:          resource.Defaults(setReplicaSetDefaults),
			PrepareForCreate:     resource.OnCreate(prepareReplicaSetForCreate),
			PrepareForUpdate:     resource.OnUpdate(prepareReplicaSetForUpdate),
			Validate:             resource.Validation(validateReplicaSet),
			ValidateUpdate:       resource.UpdateValidation(validateReplicaSetUpdate),
			ValidateStatusUpdate: resource.UpdateValidation(validateReplicaSetStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(replicaSetWarnings),
			WarningsOnUpdate:     resource.UpdateWarnings(replicaSetUpdateWarnings),
		},
		{
			Group: "apps", Version: "v1", Plural: "statefulsets", Kind: "StatefulSet", Namespaced: true,
			ShortNames: []string{"sts"}, Categories: []string{"all"}, Status: true,
			Subresources:             []resource.Subresource{resource.ScaleSubresource()},
			AllowUnconditionalUpdate: true, HasGeneration: true,
			SetDefaults:          resource.Defaults(setStatefulSetDefaults),
			PrepareForCreate:     resource.OnCreate(prepareStatefulSetForCreate),
			PrepareForUpdate:     resource.OnUpdate(prepareStatefulSetForUpdate),
			ValidateName:         validation.NameIsDNSLabel,
			Validate:             resource.Validation(validateStatefulSet),
			ValidateUpdate:       resource.UpdateValidation(validateStatefulSetUpdate),
			ValidateStatusUpdate: resource.UpdateValidation(validateStatefulSetStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(statefulSetWarnings),
			WarningsOnUpdate:     resource.UpdateWarnings(statefulSetUpdateWarnings),
		},
	}
}
