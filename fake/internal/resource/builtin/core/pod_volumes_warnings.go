package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// volumeWarnings returns the warnings for the volumes of a pod or a template. p is the path of the
// spec.
func volumeWarnings(spec *corev1.PodSpec, p *validate.Path) (warnings []string) {
	for i := range spec.Volumes {
		v, at := &spec.Volumes[i], p.Child("volumes").Index(i)
		if name, message := deprecatedVolumeSource(&v.VolumeSource); name != "" {
			warnings = append(warnings, at.Child(name).String()+": "+message)
		}
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
			warnings = append(warnings, PersistentVolumeClaimSpecWarnings(&v.Ephemeral.VolumeClaimTemplate.Spec, at.Child("ephemeral").Child("volumeClaimTemplate").Child("spec"))...)
		}
	}
	for i := range spec.Volumes {
		warnings = append(warnings, volumePathWarnings(&spec.Volumes[i])...)
	}
	return warnings
}

// deprecatedVolumeSource returns the field of a source that is deprecated, and since when. The
// field is "" for other sources.
func deprecatedVolumeSource(source *corev1.VolumeSource) (name, message string) {
	switch {
	case source.PhotonPersistentDisk != nil:
		return "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"
	case source.GitRepo != nil:
		return "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"
	case source.ScaleIO != nil:
		return "scaleIO", "deprecated in v1.16, non-functional in v1.22+"
	case source.Flocker != nil:
		return "flocker", "deprecated in v1.22, non-functional in v1.25+"
	case source.StorageOS != nil:
		return "storageOS", "deprecated in v1.22, non-functional in v1.25+"
	case source.Quobyte != nil:
		return "quobyte", "deprecated in v1.22, non-functional in v1.25+"
	case source.Glusterfs != nil:
		return "glusterfs", "deprecated in v1.25, non-functional in v1.26+"
	case source.CephFS != nil:
		return "cephfs", "deprecated in v1.28, non-functional in v1.31+"
	case source.RBD != nil:
		return "rbd", "deprecated in v1.28, non-functional in v1.31+"
	}
	return "", ""
}

// volumePathWarnings returns the warnings for files of a volume that hide each other: they have the
// same path, or one is a directory of the other.
func volumePathWarnings(v *corev1.Volume) []string {
	var buf [16]volumeFile
	files := buf[:0]
	switch {
	case v.ConfigMap != nil:
		files = appendKeyFiles(files, v.ConfigMap.Items, "", "")
		return overlapWarnings(v.Name, "ConfigMap", v.ConfigMap.Name, files)
	case v.Secret != nil:
		files = appendKeyFiles(files, v.Secret.Items, "", "")
		return overlapWarnings(v.Name, "Secret", v.Secret.SecretName, files)
	case v.DownwardAPI != nil:
		files = appendFieldFiles(files, v.DownwardAPI.Items, "")
		return overlapWarnings(v.Name, "DownwardAPI", "", files)
	case v.Projected == nil:
		return nil
	}
	var warnings []string
	for i := range v.Projected.Sources {
		if v.Projected.Sources[i] == (corev1.VolumeProjection{}) {
			warnings = append(warnings, fmt.Sprintf("volume %q (Projected) has no sources provided", v.Name))
		}
		files = appendProjectedFiles(files, &v.Projected.Sources[i])
	}
	return append(warnings, overlapWarnings(v.Name, "Projected", "", files)...)
}

// volumeFile is a file of a volume. kind and name are those of the object that a projected file
// comes from.
type volumeFile struct{ path, kind, name string }

func appendProjectedFiles(files []volumeFile, source *corev1.VolumeProjection) []volumeFile {
	switch {
	case source.ConfigMap != nil:
		return appendKeyFiles(files, source.ConfigMap.Items, "ConfigMap", source.ConfigMap.Name)
	case source.Secret != nil:
		return appendKeyFiles(files, source.Secret.Items, "Secret", source.Secret.Name)
	case source.DownwardAPI != nil:
		return appendFieldFiles(files, source.DownwardAPI.Items, "DownwardAPI")
	case source.ServiceAccountToken != nil:
		return append(files, volumeFile{path: source.ServiceAccountToken.Path, kind: "ServiceAccountToken"})
	case source.ClusterTrustBundle != nil:
		bundle := source.ClusterTrustBundle
		name := bundle.Name
		if name == nil {
			name = bundle.SignerName
		}
		if name != nil {
			return append(files, volumeFile{bundle.Path, "ClusterTrustBundle", *name})
		}
	case source.PodCertificate != nil:
		certificate := source.PodCertificate
		return append(files,
			volumeFile{path: certificate.CertificateChainPath, kind: "PodCertificate chain"},
			volumeFile{path: certificate.KeyPath, kind: "PodCertificate key"},
			volumeFile{path: certificate.CredentialBundlePath, kind: "PodCertificate credential bundle"})
	}
	return files
}

func appendKeyFiles(files []volumeFile, items []corev1.KeyToPath, kind, name string) []volumeFile {
	for i := range items {
		files = append(files, volumeFile{items[i].Path, kind, name})
	}
	return files
}

func appendFieldFiles(files []volumeFile, items []corev1.DownwardAPIVolumeFile, kind string) []volumeFile {
	for i := range items {
		files = append(files, volumeFile{path: items[i].Path, kind: kind})
	}
	return files
}

// overlapWarnings returns the warnings for the files of a volume with a source, which is an object
// with a name or has none.
func overlapWarnings(volume, kind, name string, files []volumeFile) (warnings []string) {
	compared := 0
	for i := range files {
		files[i].path = strings.TrimRight(files[i].path, "/")
		for j := range files[:i] {
			if compared++; compared > maxComparisons || len(warnings) >= maxWarnings {
				return warnings
			}
			if isOrContains(files[i].path, files[j].path) || isOrContains(files[j].path, files[i].path) {
				warnings = append(warnings, fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s",
					volume, sourceText(kind, name), files[i].text(), files[j].text()))
			}
		}
	}
	return warnings
}

// isOrContains reports whether a path is another one or a directory of it. "" is no path.
func isOrContains(path, other string) bool {
	rest, ok := strings.CutPrefix(other, path)
	return ok && path != "" && (rest == "" || rest[0] == '/')
}

func (f *volumeFile) text() string {
	if f.kind == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, sourceText(f.kind, f.name))
}

func sourceText(kind, name string) string {
	switch kind {
	case "ConfigMap", "Secret", "ClusterTrustBundle":
		return fmt.Sprintf("%s %q", kind, name)
	}
	return kind
}
