// Package core has the built-in types of the core group.
// It also has what other groups share with it, such as the defaults of pod templates.
package core

import (
	"k8s.io/apimachinery/pkg/api/validation"

	"example.com/fakeapi/fake/internal/resource"
)

// Resources returns the types of the core group, which is served under /api/v1.
func Resources() []resource.Resource {
	return []resource.Resource{
		{
			// The body is the binding of a pod (SU-13).
			Version: "v1", Plural: "bindings", Kind: "Binding", Namespaced: true,
			Verbs: []string{"create"},
		},
		{
			Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true,
			ShortNames:               []string{"cm"},
			AllowUnconditionalUpdate: true,
			Validate:                 resource.Validation(validateConfigMap),
			ValidateUpdate:           resource.UpdateValidation(validateConfigMapUpdate),
		},
		{
			Version: "v1", Plural: "endpoints", Kind: "Endpoints", Namespaced: true,
			ShortNames:               []string{"ep"},
			AllowUnconditionalUpdate: true, AllowCreateOnUpdate: true,
			SetDefaults:      resource.Defaults(setEndpointsDefaults),
			Canonicalize:     canonicalizeEndpoints,
			Validate:         resource.Validation(validateEndpoints),
			ValidateUpdate:   resource.UpdateValidation(validateEndpointsUpdate),
			WarningsOnCreate: resource.CreateWarnings(endpointsWarnings),
			WarningsOnUpdate: resource.UpdateWarnings(endpointsWarningsOnUpdate),
		},
		{
			Version: "v1", Plural: "events", Kind: "Event", Namespaced: true,
			ShortNames:               []string{"ev"},
			AllowUnconditionalUpdate: true, AllowCreateOnUpdate: true,
			GarbageCollection: resource.GarbageCollectionUnsupported,
			AnyFinalizers:     true,
			ValidateName:      resource.ValidatePathSegmentName,
			Fields:            coreEventFields(),
			Validate:          validateNewEvent,
			ValidateUpdate:    resource.UpdateValidation(validateEventUpdate),
		},
		{
			Version: "v1", Plural: "limitranges", Kind: "LimitRange", Namespaced: true,
			ShortNames:               []string{"limits"},
			AllowUnconditionalUpdate: true, AllowCreateOnUpdate: true,
			SetDefaults:    resource.Defaults(setLimitRangeDefaults),
			Validate:       resource.Validation(validateLimitRange),
			ValidateUpdate: resource.UpdateValidation(validateLimitRangeUpdate),
		},
		{
			Version: "v1", Plural: "namespaces", Kind: "Namespace",
			ShortNames: []string{"ns"}, Status: true,
			Subresources:             []resource.Subresource{finalizeSubresource()},
			Verbs:                    verbsWithoutDeleteCollection(),
			AllowUnconditionalUpdate: true,
			ReturnDeletedObject:      true,
			ValidateName:             validation.ValidateNamespaceName,
			Fields:                   namespaceFields(),
			SetDefaults:              resource.Defaults(setNamespaceDefaults),
			PrepareForCreate:         resource.OnCreate(prepareNamespaceForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareNamespaceForUpdate),
			Validate:                 resource.Validation(validateNamespace),
			ValidateStatusUpdate:     resource.SubresourceValidation(validateNamespaceStatusUpdate),
		},
		{
			Version: "v1", Plural: "nodes", Kind: "Node",
			ShortNames: []string{"no"}, Status: true, StatusOnCreate: true,
			Subresources:             []resource.Subresource{proxySubresource("NodeProxyOptions"), nodeStatusSubresource()},
			AllowUnconditionalUpdate: true,
			Fields:                   nodeFields(),
			SetDefaults:              resource.Defaults(setNodeDefaults),
			PrepareForCreate:         resource.OnCreate(prepareNodeForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareNodeForUpdate),
			Validate:                 resource.Validation(validateNode),
			ValidateUpdate:           resource.UpdateValidation(validateNodeUpdate),
			ValidateStatusUpdate:     resource.SubresourceValidation(validateNodeChange),
			WarningsOnCreate:         resource.CreateWarnings(nodeWarnings),
			WarningsOnUpdate:         resource.UpdateWarnings(nodeWarningsOnUpdate),
		},
		{
			Version: "v1", Plural: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true,
			ShortNames: []string{"pvc"}, Status: true,
			ProtectionFinalizer:      "kubernetes.io/pvc-protection",
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
			SetDefaults:      resource.Defaults(SetDefaultsPersistentVolumeClaim),
			PrepareForCreate: resource.OnCreate(preparePersistentVolumeClaimForCreate),
			PrepareForUpdate: resource.OnUpdate(preparePersistentVolumeClaimForUpdate),
			Validate:         resource.Validation(validatePersistentVolumeClaim), ValidateUpdate: resource.UpdateValidation(validatePersistentVolumeClaimUpdate),
			ValidateStatusUpdate: resource.SubresourceValidation(validatePersistentVolumeClaimStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(persistentVolumeClaimWarnings),
			WarningsOnUpdate:     resource.UpdateWarnings(persistentVolumeClaimUpdateWarnings),
		},
		{
			Version: "v1", Plural: "persistentvolumes", Kind: "PersistentVolume",
			ShortNames: []string{"pv"}, Status: true,
			ProtectionFinalizer:      "kubernetes.io/pv-protection",
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
			Subresources:     []resource.Subresource{persistentVolumeStatusSubresource()},
			SetDefaults:      resource.Defaults(setPersistentVolumeDefaults),
			PrepareForCreate: resource.OnCreate(preparePersistentVolumeForCreate),
			Validate:         resource.Validation(validatePersistentVolume), ValidateUpdate: resource.UpdateValidation(validatePersistentVolumeUpdate),
			WarningsOnCreate: resource.CreateWarnings(persistentVolumeWarnings),
			WarningsOnUpdate: resource.UpdateWarnings(persistentVolumeUpdateWarnings),
		},
		{
			Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true,
			ShortNames: []string{"po"}, Categories: []string{"all"}, Status: true, StatusOnCreate: true,
			Subresources:             podSubresources(),
			AllowUnconditionalUpdate: true, HasGeneration: true, ReturnDeletedObject: true,
			Fields:           podFields(),
			SetDefaults:      resource.Defaults(setPodDefaults),
			PrepareForCreate: resource.OnCreate(preparePodForCreate),
			PrepareForUpdate: resource.OnUpdate(preparePodForUpdate),
			GracePeriod:      podGracePeriod,
		},
		{
			Version: "v1", Plural: "podtemplates", Kind: "PodTemplate", Namespaced: true,
			AllowUnconditionalUpdate: true, HasGeneration: true, ReturnDeletedObject: true,
			SetDefaults:      resource.Defaults(setPodTemplateDefaults),
			PrepareForCreate: resource.OnCreate(preparePodTemplateForCreate),
			PrepareForUpdate: resource.OnUpdate(preparePodTemplateForUpdate),
		},
		{
			Version: "v1", Plural: "replicationcontrollers", Kind: "ReplicationController", Namespaced: true,
			ShortNames: []string{"rc"}, Categories: []string{"all"}, Status: true,
			Subresources:             []resource.Subresource{resource.ScaleSubresource()},
			AllowUnconditionalUpdate: true, HasGeneration: true,
			GarbageCollection:    resource.OrphanDependents,
			Fields:               replicationControllerFields(),
			SetDefaults:          resource.Defaults(setReplicationControllerDefaults),
			PrepareForCreate:     resource.OnCreate(prepareReplicationControllerForCreate),
			PrepareForUpdate:     resource.OnUpdate(prepareReplicationControllerForUpdate),
			Validate:             resource.Validation(validateReplicationController),
			ValidateUpdate:       resource.UpdateValidation(validateReplicationControllerUpdate),
			ValidateStatusUpdate: resource.SubresourceValidation(validateReplicationControllerStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(replicationControllerWarnings),
			WarningsOnUpdate:     resource.UpdateWarnings(replicationControllerUpdateWarnings),
		},
		{
			Version: "v1", Plural: "resourcequotas", Kind: "ResourceQuota", Namespaced: true,
			ShortNames: []string{"quota"}, Status: true,
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
			SetDefaults:          resource.Defaults(setResourceQuotaDefaults),
			Validate:             resource.Validation(validateResourceQuota),
			ValidateUpdate:       resource.UpdateValidation(validateResourceQuotaUpdate),
			ValidateStatusUpdate: resource.SubresourceValidation(validateResourceQuotaStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(resourceQuotaWarnings),
		},
		{
			Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true,
			AllowUnconditionalUpdate: true,
			Fields:                   secretFields(),
			SetDefaults:              resource.Defaults(setSecretDefaults),
			Canonicalize:             canonicalizeSecret,
			Validate:                 resource.Validation(validateSecret),
			ValidateUpdate:           resource.UpdateValidation(validateSecretUpdate),
			WarningsOnCreate:         resource.CreateWarnings(secretWarnings),
			WarningsOnUpdate:         resource.UpdateWarnings(secretWarningsOnUpdate),
		},
		{
			Version: "v1", Plural: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true,
			ShortNames:               []string{"sa"},
			Subresources:             []resource.Subresource{tokenSubresource()},
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
			PrepareForCreate: resource.OnCreate(prepareServiceAccountForCreate),
			PrepareForUpdate: resource.OnUpdate(prepareServiceAccountForUpdate),
			WarningsOnCreate: resource.CreateWarnings(serviceAccountWarnings),
			WarningsOnUpdate: resource.UpdateWarnings(serviceAccountWarningsOnUpdate),
		},
		{
			Version: "v1", Plural: "services", Kind: "Service", Namespaced: true,
			ShortNames: []string{"svc"}, Categories: []string{"all"}, Status: true,
			SetDefaults:              resource.Defaults(setServiceDefaults),
			Subresources:             []resource.Subresource{proxySubresource("ServiceProxyOptions")},
			AllowUnconditionalUpdate: true, AllowCreateOnUpdate: true, ReturnDeletedObject: true,
			ValidateName:         validation.NameIsDNSLabel, // RelaxedServiceNameValidation
			Fields:               serviceFields(),
			PrepareForCreate:     resource.OnCreate(prepareServiceForCreate),
			PrepareForUpdate:     resource.OnUpdate(prepareServiceForUpdate),
			Validate:             resource.Validation(validateService),
			ValidateUpdate:       resource.UpdateValidation(validateServiceUpdate),
			ValidateStatusUpdate: resource.SubresourceValidation(validateServiceStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(serviceWarnings),
			WarningsOnUpdate:     resource.UpdateWarnings(serviceWarningsOnUpdate),
		},
	}
}

// verbsWithoutDeleteCollection returns the verbs of namespaces, which cannot be deleted with one
// request.
func verbsWithoutDeleteCollection() []string {
	return []string{"create", "delete", "get", "list", "patch", "update", "watch"}
}
