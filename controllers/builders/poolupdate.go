package builders

import (
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const (
	poolUpdateName      = "designate-pool-update"
	poolUpdateContainer = "pool-update"
	// poolsFileName is the key of the input, and the name of the file.
	poolsFileName = "pools.yaml"

	designateConfigDirectory = "/etc/designate"
	inputDirectory           = "/etc/designate-pool-update"
	// stateDirectory is Designate's default state_path. It and a home are all that Designate's tools write to.
	stateDirectory = "/var/lib/designate"
	temporary      = "/tmp"

	inputVolume     = "input"
	stateVolume     = "state"
	temporaryVolume = "tmp"
	// scratchSize bounds each of the volumes that a Job may write to.
	scratchSize = "64Mi"

	// The API server's defaults are written out here too, for objects that were stored without them.
	poolUpdateUser     = 65532
	poolUpdateDeadline = time.Hour
)

// PoolUpdateName is the name of the Job of a run, and of its input.
func PoolUpdateName(run int32) string { return fmt.Sprintf("%s-%d", poolUpdateName, run) }

// PoolUpdateInput holds what a run applies. Nobody can change it while the Job reads it.
func PoolUpdateInput(backend *v1alpha1.DesignateBackend, run int32, poolsYAML string) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(PoolUpdateName(run), backend.Namespace).
		WithLabels(poolUpdateLabels(run)).
		WithOwnerReferences(ownedBy(backend)).
		WithImmutable(true).
		WithData(map[string]string{poolsFileName: poolsYAML})
}

// PoolUpdateJob applies the input of a run to Designate, once: whether and when to try again is decided by whoever began it,
// for every attempt rewrites all zones of the pools. The DesignateBackend must say how (spec.designate.poolUpdate).
func PoolUpdateJob(backend *v1alpha1.DesignateBackend, run int32) *batchv1ac.JobApplyConfiguration {
	update := backend.Spec.Designate.PoolUpdate
	deadline := poolUpdateDeadline
	if update.Deadline != nil {
		deadline = update.Deadline.Duration
	}
	return batchv1ac.Job(PoolUpdateName(run), backend.Namespace).
		WithLabels(poolUpdateLabels(run)).
		WithOwnerReferences(ownedBy(backend)).
		WithSpec(batchv1ac.JobSpec().
			WithParallelism(1).
			WithCompletions(1).
			WithBackoffLimit(0).
			WithActiveDeadlineSeconds(max(1, int64(deadline/time.Second))).
			// A pod that is still stopping counts as running, so that no two of them ever do the same work.
			WithPodReplacementPolicy(batchv1.Failed).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(poolUpdateLabels(run)).
				WithSpec(poolUpdatePod(update, PoolUpdateName(run)))))
}

func poolUpdatePod(update *v1alpha1.PoolUpdate, input string) *corev1ac.PodSpecApplyConfiguration {
	pod := corev1ac.PodSpec().
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(unprivilegedPod(ptr.Deref(update.RunAsUser, poolUpdateUser))).
		WithContainers(corev1ac.Container().
			WithName(poolUpdateContainer).
			WithImage(update.Image).
			WithCommand("designate-manage", "--config-file", designateConfigDirectory+"/designate.conf",
				"pool", "update", "--file", inputDirectory+"/"+poolsFileName).
			WithEnv(corev1ac.EnvVar().WithName("HOME").WithValue(temporary)).
			WithResources(requirements(update.Resources)).
			WithSecurityContext(unprivilegedContainer()).
			// So that the end of its log, which says what went wrong, is in the pod's status.
			WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
			WithVolumeMounts(
				corev1ac.VolumeMount().WithName(configVolume).WithMountPath(designateConfigDirectory).WithReadOnly(true),
				corev1ac.VolumeMount().WithName(inputVolume).WithMountPath(inputDirectory).WithReadOnly(true),
				corev1ac.VolumeMount().WithName(stateVolume).WithMountPath(stateDirectory),
				corev1ac.VolumeMount().WithName(temporaryVolume).WithMountPath(temporary),
			)).
		WithVolumes(
			corev1ac.Volume().WithName(configVolume).WithSecret(corev1ac.SecretVolumeSource().
				WithSecretName(update.ConfigSecretName).WithDefaultMode(0o440)),
			corev1ac.Volume().WithName(inputVolume).WithConfigMap(corev1ac.ConfigMapVolumeSource().
				WithName(input).WithDefaultMode(0o444)),
			scratch(stateVolume, scratchSize),
			scratch(temporaryVolume, scratchSize),
		).
		WithNodeSelector(update.NodeSelector)
	placement{update.ImagePullSecrets, update.Tolerations, update.PriorityClassName}.of(pod)
	return pod
}

func poolUpdateLabels(run int32) map[string]string {
	return map[string]string{
		labelAppName:                poolUpdateName,
		labelAppPartOf:              appPartOf,
		v1alpha1.LabelManagedBy:     v1alpha1.ManagedByOperator,
		v1alpha1.LabelPoolUpdateRun: strconv.Itoa(int(run)),
	}
}

// ownedBy has the garbage collector take an object once the DesignateBackend is gone. It does not hold up the deletion of that.
func ownedBy(backend *v1alpha1.DesignateBackend) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).
		WithKind("DesignateBackend").
		WithName(backend.Name).
		WithUID(backend.UID)
}
