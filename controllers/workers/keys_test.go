package workers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const (
	secretName = "designate-bind-secret"
	directory  = "/etc/designate/rndc-keys"
)

func secretVolume(name, secret string, items ...corev1.KeyToPath) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret, Items: items}}}
}

func projectedVolume(name, secret string, items ...corev1.KeyToPath) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Items: items}},
		},
	}}}
}

func TestKeysMounted(t *testing.T) {
	item := corev1.KeyToPath{Key: "rndc-key-0", Path: "rndc-key-0"}
	at := func(path string) corev1.VolumeMount { return corev1.VolumeMount{Name: "keys", MountPath: path} }
	subPath := corev1.VolumeMount{Name: "keys", MountPath: directory + "/rndc-key-0", SubPath: "rndc-key-0"}
	const (
		none   = "Deployment designate-worker: no container of it mounts the Secret designate-bind-secret."
		single = "Deployment designate-worker: its container worker mounts single keys of the Secret designate-bind-secret at "
		mend   = " Mount the Secret designate-bind-secret as a directory at /etc/designate/rndc-keys, without subPath and without items."
	)
	for name, test := range map[string]struct {
		volume corev1.Volume
		mounts []corev1.VolumeMount
		want   string
	}{
		"as a directory":                       {secretVolume("keys", secretName), []corev1.VolumeMount{at(directory)}, ""},
		"with a slash at the end":              {secretVolume("keys", secretName), []corev1.VolumeMount{at(directory + "/")}, ""},
		"projected":                            {projectedVolume("keys", secretName), []corev1.VolumeMount{at(directory)}, ""},
		"in two places, one of which is right": {secretVolume("keys", secretName), []corev1.VolumeMount{at("/keys"), at(directory)}, ""},
		"not at all":                           {secretVolume("keys", "other"), []corev1.VolumeMount{at(directory)}, none + mend},
		"a volume that is not mounted":         {secretVolume("other", secretName), nil, none + mend},
		"as a ConfigMap of that name": {
			corev1.Volume{Name: "keys", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: secretName},
			}}}, []corev1.VolumeMount{at(directory)}, none + mend,
		},
		"elsewhere": {
			secretVolume("keys", secretName), []corev1.VolumeMount{at("/keys")},
			"Deployment designate-worker: its container worker mounts the Secret designate-bind-secret at /keys." + mend,
		},
		"one directory deeper": {
			secretVolume("keys", secretName), []corev1.VolumeMount{at(directory + "/all")},
			"Deployment designate-worker: its container worker mounts the Secret designate-bind-secret at /etc/designate/rndc-keys/all." + mend,
		},
		"one key by subPath": {
			secretVolume("keys", secretName), []corev1.VolumeMount{subPath}, single + "/etc/designate/rndc-keys/rndc-key-0." + mend,
		},
		"a directory by subPath": {
			secretVolume("keys", secretName), []corev1.VolumeMount{{Name: "keys", MountPath: directory, SubPath: "."}}, single + directory + "." + mend,
		},
		"a directory by subPathExpr": {
			secretVolume("keys", secretName), []corev1.VolumeMount{{Name: "keys", MountPath: directory, SubPathExpr: "$(X)"}}, single + directory + "." + mend,
		},
		"with items":           {secretVolume("keys", secretName, item), []corev1.VolumeMount{at(directory)}, single + directory + "." + mend},
		"projected with items": {projectedVolume("keys", secretName, item), []corev1.VolumeMount{at(directory)}, single + directory + "." + mend},
	} {
		t.Run(name, func(t *testing.T) {
			object := deployment("")
			object.Spec.Template.Spec.Volumes = []corev1.Volume{test.volume}
			object.Spec.Template.Spec.Containers[0].VolumeMounts = test.mounts
			state := read(t, server(object), workloadOf(object))
			if got := KeysMounted(state, secretName, directory+"/"); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestKeysInAnInitContainerAreNotSeenByTheWorker: it has ended when the worker runs.
func TestKeysInAnInitContainerAreNotSeenByTheWorker(t *testing.T) {
	object := deployment("")
	spec := &object.Spec.Template.Spec
	spec.Volumes = []corev1.Volume{secretVolume("keys", secretName)}
	spec.InitContainers = []corev1.Container{{Name: "init", VolumeMounts: []corev1.VolumeMount{{Name: "keys", MountPath: directory}}}}
	if KeysMounted(read(t, server(object), workloadOf(object)), secretName, directory) == "" {
		t.Error("the worker is said to see the keys")
	}
}
