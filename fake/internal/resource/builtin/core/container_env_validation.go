package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateEnv validates the environment variables of a container. A name may occur twice.
func validateEnv(env []corev1.EnvVar, p *validate.Path) (errs field.ErrorList) {
	for i := range env {
		at := p.Index(i)
		if env[i].Name == "" {
			errs = append(errs, at.Child("name").Required(""))
		} else {
			errs = append(errs, validate.Messages(env[i].Name, validation.IsRelaxedEnvVarName(env[i].Name), at.Child("name"))...)
		}
		if env[i].ValueFrom != nil {
			errs = append(errs, validateEnvVarSource(env[i].ValueFrom, env[i].Value, at.Child("valueFrom"))...)
		}
	}
	return errs
}

// validateEnvVarSource validates where the value of a variable comes from. value is the value that
// the variable has itself.
func validateEnvVarSource(source *corev1.EnvVarSource, value string, p *validate.Path) (errs field.ErrorList) {
	sources := 0
	if source.FieldRef != nil {
		sources++
		errs = append(errs, validateFieldRef(source.FieldRef, refOfEnv, p.Child("fieldRef"))...)
	}
	if source.ResourceFieldRef != nil {
		sources++
		errs = append(errs, validateResourceFieldRef(source.ResourceFieldRef, refOfEnv, p.Child("resourceFieldRef"))...)
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		sources++
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, p.Child("configMapKeyRef"))...)
	}
	if ref := source.SecretKeyRef; ref != nil {
		sources++
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, p.Child("secretKeyRef"))...)
	}
	if source.FileKeyRef != nil {
		sources++
		errs = append(errs, validateFileKeyRef(source.FileKeyRef, p.Child("fileKeyRef"))...)
	}
	switch {
	case sources == 0:
		errs = append(errs, p.Invalid("", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case value != "":
		errs = append(errs, p.Invalid("", "may not be specified when `value` is not empty"))
	case sources > 1:
		errs = append(errs, p.Invalid("", "may not have more than one field specified at a time"))
	}
	return errs
}

// validateKeyRef validates a reference to a key of a ConfigMap or a Secret.
func validateKeyRef(name, key string, p *validate.Path) field.ErrorList {
	errs := validate.DNSSubdomain(name, p.Child("name"))
	if key == "" {
		return append(errs, p.Child("key").Required(""))
	}
	return append(errs, validate.Messages(key, validation.IsConfigMapKey(key), p.Child("key"))...)
}

// validateFileKeyRef validates a reference to a variable in a file.
func validateFileKeyRef(ref *corev1.FileKeySelector, p *validate.Path) field.ErrorList {
	errs := requireValue(ref.Key, p.Child("key"))
	if ref.Key != "" {
		errs = append(errs, validate.Messages(ref.Key, validation.IsRelaxedEnvVarName(ref.Key), p.Child("key"))...)
	}
	errs = append(errs, requireValue(ref.VolumeName, p.Child("volumeName"))...)
	if ref.VolumeName != "" {
		errs = append(errs, validate.DNSLabel(ref.VolumeName, p.Child("volumeName"))...)
	}
	errs = append(errs, requireValue(ref.Path, p.Child("path"))...)
	return append(errs, validatePathNoBacksteps(ref.Path, p.Child("path"))...)
}

// validateFileKeyRefVolumes validates that the files with the variables of all containers are in
// volumes of type emptyDir. A server does so last. p is the path of the spec.
func validateFileKeyRefVolumes(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	volumes := volumesByName{list: spec.Volumes}
	for i := range spec.InitContainers {
		errs = append(errs, validateEnvFiles(spec.InitContainers[i].Env, &volumes, p.Child("initContainers").Index(i))...)
	}
	for i := range spec.Containers {
		errs = append(errs, validateEnvFiles(spec.Containers[i].Env, &volumes, p.Child("containers").Index(i))...)
	}
	for i := range spec.EphemeralContainers {
		errs = append(errs, validateEnvFiles(spec.EphemeralContainers[i].Env, &volumes, p.Child("ephemeralContainers").Index(i))...)
	}
	return errs
}

// validateEnvFiles validates the files that the variables of a container come from. p is the path
// of the container.
func validateEnvFiles(env []corev1.EnvVar, volumes *volumesByName, p *validate.Path) (errs field.ErrorList) {
	for i := range env {
		if env[i].ValueFrom == nil || env[i].ValueFrom.FileKeyRef == nil {
			continue
		}
		name := env[i].ValueFrom.FileKeyRef.VolumeName
		at := p.Child("env").Index(i).Child("valueFrom").Child("fileKeyRef").Child("volumeName")
		switch volume := volumes.find(name); {
		case volume == nil:
			errs = append(errs, at.NotFound(name))
		case volume.EmptyDir == nil:
			errs = append(errs, at.Invalid(name, "referenced volume must be of type emptyDir"))
		}
	}
	return errs
}

// validateEnvFrom validates the objects that a container takes all variables from.
func validateEnvFrom(sources []corev1.EnvFromSource, p *validate.Path) (errs field.ErrorList) {
	for i := range sources {
		source, at := &sources[i], p.Index(i)
		if source.Prefix != "" {
			errs = append(errs, validate.Messages(source.Prefix, validation.IsRelaxedEnvVarName(source.Prefix), at.Child("prefix"))...)
		}
		if source.ConfigMapRef != nil {
			errs = append(errs, validateEnvFromName(source.ConfigMapRef.Name, at.Child("configMapRef").Child("name"))...)
		}
		if source.SecretRef != nil {
			errs = append(errs, validateEnvFromName(source.SecretRef.Name, at.Child("secretRef").Child("name"))...)
		}
		switch {
		case source.ConfigMapRef == nil && source.SecretRef == nil:
			errs = append(errs, p.Invalid("", "must specify one of: `configMapRef` or `secretRef`"))
		case source.ConfigMapRef != nil && source.SecretRef != nil:
			errs = append(errs, p.Invalid("", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

// validateEnvFromName validates the name of a ConfigMap or a Secret. It may end with a dash, as if
// it were generated.
func validateEnvFromName(name string, p *validate.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{p.Required("")}
	}
	return validate.Messages(name, apivalidation.NameIsDNSSubdomain(name, true), p)
}

// refOwner is what a reference to a field of the pod is the value of.
type refOwner int

const (
	refOfEnv    refOwner = iota // an environment variable
	refOfVolume                 // a file in a volume
)

// validateFieldRef validates a reference to a field of the pod.
func validateFieldRef(ref *corev1.ObjectFieldSelector, owner refOwner, p *validate.Path) field.ErrorList {
	switch {
	case ref.APIVersion == "":
		return field.ErrorList{p.Child("apiVersion").Required("")}
	case ref.FieldPath == "":
		return field.ErrorList{p.Child("fieldPath").Required("")}
	case ref.APIVersion != "v1":
		return invalidFieldRef(ref.FieldPath, "unsupported pod version: "+ref.APIVersion, p)
	}
	path := ref.FieldPath
	if name, subscript, ok := cutSubscript(path); ok {
		switch name {
		case "metadata.annotations":
			return validate.LabelName(strings.ToLower(subscript), p)
		case "metadata.labels":
			return validate.LabelName(subscript, p)
		}
		return invalidFieldRef(path, "field label does not support subscript: "+path, p)
	}
	if path == "spec.host" { // the name of the field in old versions
		path = "spec.nodeName"
	}
	switch {
	case !isFieldLabel(path):
		return invalidFieldRef(path, "field label not supported: "+path, p)
	case owner == refOfEnv && !isEnvField(path):
		return field.ErrorList{validate.NotSupported(p.Child("fieldPath"), path, "metadata.name", "metadata.namespace", "metadata.uid",
			"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")}
	case owner == refOfVolume && !isVolumeField(path):
		return field.ErrorList{validate.NotSupported(p.Child("fieldPath"), path,
			"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")}
	}
	return nil
}

func invalidFieldRef(path, problem string, p *validate.Path) field.ErrorList {
	return field.ErrorList{p.Child("fieldPath").Invalid(path, "error converting fieldPath: "+problem)}
}

// cutSubscript splits NAME['SUBSCRIPT'].
func cutSubscript(path string) (name, subscript string, ok bool) {
	rest, ok := strings.CutSuffix(path, "']")
	if !ok {
		return "", "", false
	}
	name, subscript, ok = strings.Cut(rest, "['")
	return name, subscript, ok && name != ""
}

// isFieldLabel reports whether a field of pods can be referred to at all.
func isFieldLabel(path string) bool {
	switch path {
	case "spec.restartPolicy", "spec.schedulerName", "status.phase":
		return true
	}
	return isEnvField(path) || isVolumeField(path)
}

// isEnvField reports whether a field can be the value of an environment variable.
func isEnvField(path string) bool {
	switch path {
	case "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs":
		return true
	}
	return false
}

// isVolumeField reports whether a field can be a file of a volume.
func isVolumeField(path string) bool {
	switch path {
	case "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid":
		return true
	}
	return false
}

// validateResourceFieldRef validates a reference to a request or a limit of a container.
func validateResourceFieldRef(ref *corev1.ResourceFieldSelector, owner refOwner, p *validate.Path) (errs field.ErrorList) {
	name, divisors := ref.Resource, divisorsOf(ref.Resource)
	switch {
	case owner == refOfVolume && ref.ContainerName == "":
		errs = append(errs, p.Child("containerName").Required(""))
	case name == "":
		errs = append(errs, p.Child("resource").Required(""))
	case divisors == "":
		errs = append(errs, validate.NotSupported(p.Child("resource"), name, "limits.cpu", "limits.ephemeral-storage", "limits.memory",
			"requests.cpu", "requests.ephemeral-storage", "requests.memory"))
	}
	if divisors != "" && !isDivisor(ref.Divisor, divisors == "cpu") {
		values := "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
		if divisors == "cpu" {
			values = "1m and 1"
		}
		errs = append(errs, p.Child("divisor").Invalid(name, "only divisor's values "+values+" are supported with the "+divisors+" resource"))
	}
	return errs
}

// divisorsOf returns the text for the kind of a request or a limit that can be referred to, which
// has its own divisors. It is "" for others.
func divisorsOf(name string) string {
	switch name {
	case "limits.cpu", "requests.cpu":
		return "cpu"
	case "limits.memory", "requests.memory":
		return "memory"
	case "limits.ephemeral-storage", "requests.ephemeral-storage":
		return "local ephemeral storage"
	}
	if strings.HasPrefix(name, "limits.hugepages-") || strings.HasPrefix(name, "requests.hugepages-") {
		return "hugepages"
	}
	return ""
}

// isDivisor reports whether a request or a limit can be divided by a quantity: by none, one or, of
// CPU, a thousandth, and of bytes a unit of 1000 or of 1024 bytes to some power.
func isDivisor(q resource.Quantity, ofCPU bool) bool {
	if q.IsZero() {
		return true
	}
	switch q.String() {
	case "1":
		return true
	case "1m":
		return ofCPU
	case "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei":
		return !ofCPU
	}
	return false
}
