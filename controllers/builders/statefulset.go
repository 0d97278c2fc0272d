package builders

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const (
	containerName      = "named"
	checkContainerName = "check-configuration"
	zoneVolume         = "zones"
	configVolume       = "config"
	keyVolume          = "rndc"
	runVolume          = "run"
	// bindUser is the user and group of the BIND container, as which no image needs an entry in its passwd file.
	bindUser = 53
	// runVolumeSize bounds the pid file, the session key and the socket directory.
	runVolumeSize = "16Mi"
)

// StatefulSet runs the servers of a pool. How many is for the caller to decide, since a server leaves only after its
// clients have.
func StatefulSet(pool *Pool, replicas int32) *appsv1ac.StatefulSetApplyConfiguration {
	return appsv1ac.StatefulSet(pool.StatefulSet, pool.Namespace).
		WithLabels(pool.podLabels()).
		WithAnnotations(pool.annotations()).
		WithAnnotations(map[string]string{v1alpha1.AnnotationPoolID: pool.ID}).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(replicas).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(pool.PodSelector())).
			// Parallel: a server that cannot start keeps no other from starting.
			WithPodManagementPolicy(appsv1.ParallelPodManagement).
			// Whoever applies it says when the next server may be replaced.
			WithUpdateStrategy(appsv1ac.StatefulSetUpdateStrategy().
				WithType(appsv1.RollingUpdateStatefulSetStrategyType).
				WithRollingUpdate(appsv1ac.RollingUpdateStatefulSetStrategy().WithPartition(replicas))).
			// A claim is a copy of what Designate holds, and one kept would answer for zones long deleted.
			WithPersistentVolumeClaimRetentionPolicy(appsv1ac.StatefulSetPersistentVolumeClaimRetentionPolicy().
				WithWhenDeleted(appsv1.DeletePersistentVolumeClaimRetentionPolicyType).
				WithWhenScaled(appsv1.DeletePersistentVolumeClaimRetentionPolicyType)).
			WithVolumeClaimTemplates(claimTemplate(pool)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(pool.podLabels()).
				WithAnnotations(map[string]string{v1alpha1.AnnotationConfigHash: configHash(pool)}).
				WithSpec(podSpec(pool))))
}

func podSpec(pool *Pool) *corev1ac.PodSpecApplyConfiguration {
	template := pool.Template
	pod := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(unprivilegedPod(bindUser)).
		WithInitContainers(bindContainer(pool, checkContainerName, "named-checkconf", serverConfPath)).
		WithContainers(namedContainer(pool)).
		WithVolumes(
			corev1ac.Volume().WithName(configVolume).WithConfigMap(corev1ac.ConfigMapVolumeSource().
				WithName(ConfigMapName(pool.Index)).WithDefaultMode(0o444)),
			corev1ac.Volume().WithName(keyVolume).WithSecret(corev1ac.SecretVolumeSource().
				WithSecretName(KeySecretName(pool.Index)).WithDefaultMode(0o440)),
			scratch(runVolume, runVolumeSize),
		).
		WithVolumes(tsigVolumes(pool)...).
		WithNodeSelector(nodeSelector(pool)).
		WithTopologySpreadConstraints(spread(pool)...)
	placement{template.ImagePullSecrets, template.Tolerations, template.PriorityClassName}.of(pod)
	return pod
}

// serverConfPath is the configuration file of the pod's own server; the kubelet puts the pod's name in.
const serverConfPath = configDirectory + "/$(POD_NAME).conf"

func namedContainer(pool *Pool) *corev1ac.ContainerApplyConfiguration {
	return bindContainer(pool, containerName, "named", "-g", "-c", serverConfPath).
		WithPorts(
			containerPort("dns", corev1.ProtocolUDP, containerDNSPort),
			containerPort("dns-tcp", corev1.ProtocolTCP, containerDNSPort),
			containerPort("rndc", corev1.ProtocolTCP, containerRNDCPort),
			containerPort("statistics", corev1.ProtocolTCP, containerStatisticsPort),
		).
		WithStartupProbe(dnsProbe().WithPeriodSeconds(1).WithFailureThreshold(120)).
		WithReadinessProbe(dnsProbe().WithPeriodSeconds(5).WithFailureThreshold(3)).
		// Slow to judge: taking a server down that still answers would be worse than leaving one that does not.
		WithLivenessProbe(dnsProbe().WithPeriodSeconds(20).WithFailureThreshold(6))
}

// bindContainer runs a command of the BIND image with what both the server and the check of its configuration see.
func bindContainer(pool *Pool, name string, command ...string) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(name).
		WithImage(pool.Template.Image).
		// named and named-checkconf say last what is wrong.
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithCommand(command...).
		WithEnv(corev1ac.EnvVar().WithName("POD_NAME").WithValueFrom(corev1ac.EnvVarSource().
			WithFieldRef(corev1ac.ObjectFieldSelector().WithAPIVersion("v1").WithFieldPath("metadata.name")))).
		WithResources(resources(pool)).
		WithSecurityContext(unprivilegedContainer()).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(configVolume).WithMountPath(configDirectory).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(keyVolume).WithMountPath(keyDirectory).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(runVolume).WithMountPath(runDirectory),
			corev1ac.VolumeMount().WithName(zoneVolume).WithMountPath(zoneDirectory),
		).
		WithVolumeMounts(tsigMounts(pool)...)
}

// claimTemplate is made by hand: the constructor would set the kind and namespace, which the API server drops.
func claimTemplate(pool *Pool) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	storage := pool.storage()
	size := resource.MustParse("1Gi")
	if storage.Size != nil {
		size = *storage.Size
	}
	claim := &corev1ac.PersistentVolumeClaimApplyConfiguration{}
	claim.WithName(zoneVolume).
		WithLabels(pool.podLabels()).
		WithSpec(corev1ac.PersistentVolumeClaimSpec().
			WithAccessModes(corev1.ReadWriteOnce).
			WithVolumeMode(corev1.PersistentVolumeFilesystem).
			WithResources(corev1ac.VolumeResourceRequirements().
				WithRequests(corev1.ResourceList{corev1.ResourceStorage: size}))).
		WithStatus(corev1ac.PersistentVolumeClaimStatus().WithPhase(corev1.ClaimPending))
	claim.Spec.StorageClassName = storage.StorageClassName
	return claim
}

func resources(pool *Pool) *corev1ac.ResourceRequirementsApplyConfiguration {
	wanted := pool.Template.Resources
	if pool.Spec.BIND != nil && pool.Spec.BIND.Resources != nil {
		wanted = *pool.Spec.BIND.Resources
	}
	return requirements(wanted)
}

func nodeSelector(pool *Pool) map[string]string {
	if pool.Spec.BIND != nil && pool.Spec.BIND.NodeSelector != nil {
		return pool.Spec.BIND.NodeSelector
	}
	return pool.Template.NodeSelector
}

// spread keeps the servers of a pool on different nodes where it can, unless people say otherwise.
func spread(pool *Pool) []*corev1ac.TopologySpreadConstraintApplyConfiguration {
	constraints := pool.Template.TopologySpreadConstraints
	if pool.Spec.BIND != nil && pool.Spec.BIND.TopologySpreadConstraints != nil {
		constraints = pool.Spec.BIND.TopologySpreadConstraints
	}
	if constraints == nil {
		constraints = []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway},
		}
	}
	result := make([]*corev1ac.TopologySpreadConstraintApplyConfiguration, 0, len(constraints))
	for i := range constraints {
		result = append(result, spreadConstraint(pool, &constraints[i]))
	}
	return result
}

func spreadConstraint(
	pool *Pool, wanted *corev1.TopologySpreadConstraint,
) *corev1ac.TopologySpreadConstraintApplyConfiguration {
	selector := metav1ac.LabelSelector().WithMatchLabels(pool.PodSelector())
	if wanted.LabelSelector != nil {
		selector = metav1ac.LabelSelector().WithMatchLabels(wanted.LabelSelector.MatchLabels)
		for _, expression := range wanted.LabelSelector.MatchExpressions {
			selector.WithMatchExpressions(metav1ac.LabelSelectorRequirement().
				WithKey(expression.Key).WithOperator(expression.Operator).WithValues(expression.Values...))
		}
	}
	constraint := corev1ac.TopologySpreadConstraint().
		WithMaxSkew(wanted.MaxSkew).
		WithTopologyKey(wanted.TopologyKey).
		WithWhenUnsatisfiable(wanted.WhenUnsatisfiable).
		WithLabelSelector(selector).
		WithMatchLabelKeys(wanted.MatchLabelKeys...)
	constraint.MinDomains = wanted.MinDomains
	constraint.NodeAffinityPolicy = wanted.NodeAffinityPolicy
	constraint.NodeTaintsPolicy = wanted.NodeTaintsPolicy
	return constraint
}

func containerPort(name string, protocol corev1.Protocol, number int32) *corev1ac.ContainerPortApplyConfiguration {
	return corev1ac.ContainerPort().WithName(name).WithProtocol(protocol).WithContainerPort(number)
}

// dnsProbe asks whether named has its DNS socket open, which it has once its configuration is loaded.
func dnsProbe() *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromString("dns-tcp")))
}
