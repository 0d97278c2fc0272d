package builders

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
)

// unprivilegedPod is what the Pod Security level "restricted" asks of a pod. Its group may read what is mounted.
func unprivilegedPod(user int64) *corev1ac.PodSecurityContextApplyConfiguration {
	return corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithRunAsUser(user).
		WithRunAsGroup(user).
		WithFSGroup(user).
		WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
}

// unprivilegedContainer is what that level asks of a container, and that it does not write to its image.
func unprivilegedContainer() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithReadOnlyRootFilesystem(true).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
}

// scratch is a volume to write to, which is as short-lived as its pod.
func scratch(name, size string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse(size)))
}

// placement is what people say of where pods run and with what they are pulled.
type placement struct {
	imagePullSecrets  []corev1.LocalObjectReference
	tolerations       []corev1.Toleration
	priorityClassName string
}

func (p placement) of(pod *corev1ac.PodSpecApplyConfiguration) {
	for _, secret := range p.imagePullSecrets {
		pod.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(secret.Name))
	}
	for i := range p.tolerations {
		pod.WithTolerations(toleration(&p.tolerations[i]))
	}
	if p.priorityClassName != "" {
		pod.WithPriorityClassName(p.priorityClassName)
	}
}

func toleration(wanted *corev1.Toleration) *corev1ac.TolerationApplyConfiguration {
	result := corev1ac.Toleration()
	if wanted.Key != "" {
		result.WithKey(wanted.Key)
	}
	if wanted.Operator != "" {
		result.WithOperator(wanted.Operator)
	}
	if wanted.Value != "" {
		result.WithValue(wanted.Value)
	}
	if wanted.Effect != "" {
		result.WithEffect(wanted.Effect)
	}
	if wanted.TolerationSeconds != nil {
		result.TolerationSeconds = ptr.To(*wanted.TolerationSeconds)
	}
	return result
}

func requirements(wanted corev1.ResourceRequirements) *corev1ac.ResourceRequirementsApplyConfiguration {
	result := corev1ac.ResourceRequirements()
	if len(wanted.Limits) > 0 {
		result.WithLimits(wanted.Limits)
	}
	if len(wanted.Requests) > 0 || len(wanted.Limits) > 0 {
		result.WithRequests(requests(wanted))
	}
	return result
}

// requests completes the requests with the limits, as the API server does.
func requests(wanted corev1.ResourceRequirements) corev1.ResourceList {
	result := corev1.ResourceList{}
	maps.Copy(result, wanted.Limits)
	maps.Copy(result, wanted.Requests)
	return result
}
