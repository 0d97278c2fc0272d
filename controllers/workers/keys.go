package workers

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
)

// KeysMounted says what keeps a workload from seeing a Secret as a directory whose content follows it; empty when nothing
// does. Files that are mounted one by one never change, and a list of items lacks the keys of servers that are added later.
func KeysMounted(state *State, secretName, directory string) string {
	if state.Missing {
		return fmt.Sprintf("%s: %s.", state.name(), state.missing(""))
	}
	directory = path.Clean(directory)
	problem := fmt.Sprintf("no container of it mounts the Secret %s", secretName)
	whole, single := volumesOf(&state.template.Spec, secretName)
	for i := range state.template.Spec.Containers {
		container := &state.template.Spec.Containers[i]
		for _, mount := range container.VolumeMounts {
			mountPath, followed := path.Clean(mount.MountPath), mount.SubPath == "" && mount.SubPathExpr == ""
			switch {
			case whole[mount.Name] && followed && mountPath == directory:
				return ""
			case whole[mount.Name] && followed:
				problem = fmt.Sprintf("its container %s mounts the Secret %s at %s", container.Name, secretName, mountPath)
			case whole[mount.Name] || single[mount.Name]:
				problem = fmt.Sprintf("its container %s mounts single keys of the Secret %s at %s", container.Name, secretName, mountPath)
			}
		}
	}
	return fmt.Sprintf("%s: %s. Mount the Secret %s as a directory at %s, without subPath and without items.",
		state.name(), problem, secretName, directory)
}

// volumesOf are the volumes of a pod that hold a Secret: those with all its keys, and those with single keys.
func volumesOf(spec *corev1.PodSpec, secretName string) (whole, single map[string]bool) {
	whole, single = map[string]bool{}, map[string]bool{}
	add := func(volume string, items []corev1.KeyToPath) {
		if len(items) == 0 {
			whole[volume] = true
		} else {
			single[volume] = true
		}
	}
	for i := range spec.Volumes {
		volume := &spec.Volumes[i]
		if volume.Secret != nil && volume.Secret.SecretName == secretName {
			add(volume.Name, volume.Secret.Items)
		}
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret != nil && source.Secret.Name == secretName {
				add(volume.Name, source.Secret.Items)
			}
		}
	}
	return whole, single
}
