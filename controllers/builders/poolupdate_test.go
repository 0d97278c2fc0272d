package builders

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// applying is a DesignateBackend whose pools are applied by Jobs of which it says no more than it must.
func applying() *v1alpha1.DesignateBackend {
	backend := &v1alpha1.DesignateBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: v1alpha1.BackendName, UID: "8a6e0804-2bd0-4672-b79d-d97027f9071a"},
	}
	backend.Spec.Designate.PoolUpdate = &v1alpha1.PoolUpdate{
		Image: "registry.example.org/designate:2026.2", ConfigSecretName: "designate-config",
	}
	return backend
}

// applyingWithEverything says all that can be said of its Jobs.
func applyingWithEverything() *v1alpha1.DesignateBackend {
	backend := applying()
	template := everything().Template
	update := backend.Spec.Designate.PoolUpdate
	update.ImagePullSecrets, update.Resources = template.ImagePullSecrets, template.Resources
	update.NodeSelector, update.Tolerations, update.PriorityClassName = template.NodeSelector, template.Tolerations, template.PriorityClassName
	update.Deadline, update.RunAsUser = &metav1.Duration{Duration: 90*time.Second + 500*time.Millisecond}, ptr.To[int64](42)
	return backend
}

func TestPoolUpdate(t *testing.T) {
	for name, object := range map[string]any{
		"job":                 PoolUpdateJob(applying(), 7),
		"job-with-everything": PoolUpdateJob(applyingWithEverything(), 2147483647),
		"input":               PoolUpdateInput(applying(), 7, "---\n- name: default\n"),
	} {
		t.Run(name, func(t *testing.T) { goldenYAML(t, "poolupdate-"+name+".yaml", object) })
	}
}

// TestAJobRunsOnce: every attempt rewrites all zones of the pools, so nothing in Kubernetes may try again by itself.
func TestAJobRunsOnce(t *testing.T) {
	for _, backend := range []*v1alpha1.DesignateBackend{applying(), applyingWithEverything()} {
		spec := PoolUpdateJob(backend, 7).Spec
		if *spec.BackoffLimit != 0 || *spec.Completions != 1 || *spec.Parallelism != 1 ||
			*spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("the Job may run more than once: %+v", spec)
		}
		if spec.TTLSecondsAfterFinished != nil {
			t.Error("the Job may be gone before anybody has seen how it ended")
		}
	}
}

// TestDeletionOfTheBackendIsNotHeldUp: what is owned goes with its owner and is not waited for.
func TestDeletionOfTheBackendIsNotHeldUp(t *testing.T) {
	for name, owners := range map[string][]bool{
		"Job":   {PoolUpdateJob(applying(), 7).OwnerReferences[0].BlockOwnerDeletion != nil, PoolUpdateJob(applying(), 7).OwnerReferences[0].Controller != nil},
		"input": {PoolUpdateInput(applying(), 7, "").OwnerReferences[0].BlockOwnerDeletion != nil, PoolUpdateInput(applying(), 7, "").OwnerReferences[0].Controller != nil},
	} {
		if slices.Contains(owners, true) {
			t.Errorf("%s: blockOwnerDeletion and controller are set: %v", name, owners)
		}
	}
}

// TestAJobReadsItsOwnInput: the file that the command names is in the ConfigMap of the same run, and what it writes to is a
// volume, for its image is read-only.
func TestAJobReadsItsOwnInput(t *testing.T) {
	input, spec := PoolUpdateInput(applying(), 7, "text"), PoolUpdateJob(applying(), 7).Spec.Template.Spec
	container := spec.Containers[0]
	mounts := map[string]string{}
	for _, volume := range spec.Volumes {
		for _, mount := range container.VolumeMounts {
			switch {
			case *mount.Name != *volume.Name:
			case volume.ConfigMap != nil:
				mounts[*mount.MountPath] = "ConfigMap " + *volume.ConfigMap.Name
			case volume.Secret != nil:
				mounts[*mount.MountPath] = "Secret " + *volume.Secret.SecretName
			case volume.EmptyDir != nil && mount.ReadOnly == nil:
				mounts[*mount.MountPath] = "scratch"
			}
		}
	}
	for path, want := range map[string]string{
		"/etc/designate": "Secret designate-config", "/etc/designate-pool-update": "ConfigMap " + *input.Name,
		"/tmp": "scratch", "/var/lib/designate": "scratch",
	} {
		if mounts[path] != want {
			t.Errorf("%s is %q, want %q", path, mounts[path], want)
		}
	}
	if last := container.Command[len(container.Command)-1]; last != "/etc/designate-pool-update/pools.yaml" || input.Data["pools.yaml"] != "text" {
		t.Errorf("the command reads %s, the input holds %v", last, input.Data)
	}
}
