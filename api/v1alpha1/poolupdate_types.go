package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ApplyMode says who applies pools.yaml to Designate.
// +kubebuilder:validation:Enum=External;Job
type ApplyMode string

const (
	// ApplyExternal means people, or their installer.
	ApplyExternal ApplyMode = "External"
	// ApplyJob means the operator, with Jobs that run `designate-manage pool update`.
	ApplyJob ApplyMode = "Job"
)

// PoolUpdate is how the operator applies pools.yaml to Designate: Jobs that run `designate-manage pool update`, and
// restarts of Designate's workers, which learn of other servers in no other way.
type PoolUpdate struct {
	// Container image with `designate-manage` on the PATH, of the same release as Designate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +required
	Image string `json:"image"`

	// Secrets of this namespace with which the image is pulled.
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Secret of this namespace with Designate's configuration: its key `designate.conf`, and any file that this one names
	// below /etc/designate. Of what is in it, the Jobs need how to reach the message bus. It must not name a log file: the
	// Jobs cannot write one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	ConfigSecretName string `json:"configSecretName"`

	// Workloads of this namespace that run Designate's workers. They are restarted when the servers of a pool change, by an
	// annotation of their pod template.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	// +required
	Workers []Workload `json:"workers"`

	// How long pools have to stay as they are before they are applied, 10m at most, so that changes which come one after
	// the other are applied together: every application rewrites all zones of the pools that it holds.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('10m')",message="must be 0s to 10m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:default="10s"
	// +optional
	SettleTime *metav1.Duration `json:"settleTime,omitempty"`

	// How long one Job may take before it counts as failed, 1m to 24h. Designate rewrites about 20 zones a second.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="must be 1m to 24h"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:default="1h"
	// +optional
	Deadline *metav1.Duration `json:"deadline,omitempty"`

	// User as which the Jobs run; not root.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=65532
	// +optional
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// Compute resources of the Jobs.
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resource claims are not supported"
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// Node labels that the Jobs require.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Taints that the Jobs tolerate.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Priority class of the Jobs' pods.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// WorkloadKind is a kind of workload whose pods are made from a template.
// +kubebuilder:validation:Enum=Deployment;StatefulSet;DaemonSet
type WorkloadKind string

// Kinds of workloads, of the API group apps.
const (
	// WorkloadDeployment is a Deployment.
	WorkloadDeployment WorkloadKind = "Deployment"
	// WorkloadStatefulSet is a StatefulSet.
	WorkloadStatefulSet WorkloadKind = "StatefulSet"
	// WorkloadDaemonSet is a DaemonSet.
	WorkloadDaemonSet WorkloadKind = "DaemonSet"
)

// Workload names a workload of this namespace.
type Workload struct {
	// Kind of the workload.
	// +kubebuilder:default=Deployment
	// +optional
	Kind WorkloadKind `json:"kind,omitempty"`

	// Name of the workload.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}
