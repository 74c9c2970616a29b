package plugins

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
)

var serviceAccounts = corev1.SchemeGroupVersion.WithResource("serviceaccounts")

// The name of the account that pods have by default, and where its token is mounted, in a volume
// whose name has a random suffix.
const (
	defaultServiceAccount = "default"
	tokenMountPath        = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenVolumePrefix     = "kube-api-access-"
)

// serviceAccount sets the service account of new pods, mounts its token and adds its image pull
// secrets. It refuses pods whose account does not exist.
type serviceAccount struct {
	objects      Objects
	generateName func(base string) string
}

func newServiceAccount(d Dependencies) admission.Interface {
	return &serviceAccount{d.Objects, d.GenerateName}
}

func (p *serviceAccount) Name() string { return "ServiceAccount" }

func (p *serviceAccount) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create) || isUpdateOf(attrs, pods, "ephemeralcontainers")
}

func (p *serviceAccount) Admit(ctx context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	if attrs.Operation != admissionv1.Create {
		return nil
	}
	if isMirrorPod(pod) { // the kubelet deletes a mirror pod whose spec is changed
		return p.Validate(ctx, attrs)
	}
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = pod.Spec.DeprecatedServiceAccount
	}
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = defaultServiceAccount
	}
	pod.Spec.DeprecatedServiceAccount = pod.Spec.ServiceAccountName
	account, err := p.accountOf(attrs, pod)
	if err != nil {
		return err
	}
	if mountsToken(pod, account) {
		p.mountToken(pod)
	}
	if len(pod.Spec.ImagePullSecrets) == 0 {
		pod.Spec.ImagePullSecrets = account.ImagePullSecrets
	}
	return p.Validate(ctx, attrs)
}

func (p *serviceAccount) Validate(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	if attrs.Operation == admissionv1.Create && isMirrorPod(pod) {
		return checkMirrorPod(attrs, pod)
	}
	if pod.Spec.ServiceAccountName == "" {
		return forbiddenf(attrs, "no service account specified for pod %s/%s", attrs.Namespace, pod.Name)
	}
	account, err := p.accountOf(attrs, pod)
	if err != nil {
		return err
	}
	if enforced, _ := strconv.ParseBool(account.Annotations["kubernetes.io/enforce-mountable-secrets"]); !enforced {
		return nil
	}
	switch cause := disallowedSecret(attrs, pod, account); {
	case cause == "":
		return nil
	case attrs.Operation != admissionv1.Create:
		return errors.New(cause) // not Forbidden in kube-apiserver, which answers with 500
	default:
		return forbiddenf(attrs, "%s", cause)
	}
}

// accountOf returns the service account of a pod. A real server waits a second for the account
// "default", which a controller creates.
func (p *serviceAccount) accountOf(attrs *admission.Attributes, pod *corev1.Pod) (*corev1.ServiceAccount, error) {
	name := pod.Spec.ServiceAccountName
	obj, err := p.objects.Get(serviceAccounts, attrs.Namespace, name)
	if apierrors.IsNotFound(err) {
		err = apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)
	}
	if err != nil {
		return nil, forbiddenf(attrs, "error looking up service account %s/%s: %w", attrs.Namespace, name, err)
	}
	return obj.(*corev1.ServiceAccount), nil
}

// mountsToken reports whether the token of an account is mounted into a pod. The pod decides, then
// the account.
func mountsToken(pod *corev1.Pod, account *corev1.ServiceAccount) bool {
	switch {
	case pod.Spec.AutomountServiceAccountToken != nil:
		return *pod.Spec.AutomountServiceAccountToken
	case account.AutomountServiceAccountToken != nil:
		return *account.AutomountServiceAccountToken
	}
	return true
}

// mountToken mounts a volume with the token into all containers that have nothing at its path. A
// volume with the prefix of its name is used if there is one.
func (p *serviceAccount) mountToken(pod *corev1.Pod) {
	var name string
	known := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return strings.HasPrefix(v.Name, tokenVolumePrefix) })
	if known >= 0 {
		name = pod.Spec.Volumes[known].Name
	}
	isMounted := func(m corev1.VolumeMount) bool { return m.MountPath == tokenMountPath }
	isNeeded := false
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			if slices.ContainsFunc(c.VolumeMounts, isMounted) {
				continue
			}
			if name == "" {
				name = p.generateName(tokenVolumePrefix)
			}
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenMountPath})
			isNeeded = true
		}
	}
	if known < 0 && isNeeded {
		pod.Spec.Volumes = append(pod.Spec.Volumes, tokenVolume(name))
	}
}

// tokenVolume returns a volume with the token, the CA certificate of the API server and the
// namespace. The token expires after an hour, with a few seconds that mark it as mounted by
// default.
func tokenVolume(name string) corev1.Volume {
	mode, expiration := corev1.ProjectedVolumeSourceDefaultMode, int64(60*60+7)
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: &mode,
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &expiration}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		},
	}}}
}
