package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NodeName is the name of the one node.
const NodeName = "node"

// volumesDir is where the controller manager's own provisioner, meant for one machine like this, makes its volumes.
const volumesDir = "/tmp/hostpath_pv"

const pollInterval = 50 * time.Millisecond

// prepareCluster makes the node and the storage class, and waits until pods can be made.
func (cp *ControlPlane) prepareCluster(ctx context.Context) error {
	for _, object := range append(holdObjects(), node(), storageClass()) {
		// The API server makes its own namespaces only after it has said that it is healthy.
		what := fmt.Sprintf("%T %s can be created", object, object.GetName())
		if err := cp.waitUntil(ctx, what, func(ctx context.Context) error { return cp.client.Create(ctx, object) }); err != nil {
			return err
		}
	}
	if err := cp.waitUntil(ctx, "node "+NodeName+" is ready", cp.nodeReady); err != nil {
		return err
	}
	// From here on no pod slips past the hold. It is tried out on a pod, so this waits for service accounts as well.
	return cp.setHeld(ctx, nil)
}

func (cp *ControlPlane) nodeReady(ctx context.Context) error {
	var node corev1.Node
	if err := cp.client.Get(ctx, client.ObjectKey{Name: NodeName}, &node); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return errors.New("it has no true Ready condition")
}

// waitUntil tries until there is no error, time is up or a component has died.
func (cp *ControlPlane) waitUntil(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, componentTimeout)
	defer cancel()
	var last error
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		if err := cp.Err(); err != nil {
			return false, err
		}
		last = try(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %s: %w (the last try: %w)", what, err, last)
	}
	return nil
}

func node() client.Object {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   NodeName,
		Labels: map[string]string{corev1.LabelHostname: NodeName, corev1.LabelOSStable: "linux"},
	}}
}

func storageClass() client.Object {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "directory",
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: "kubernetes.io/host-path",
	}
}

// volumeDirectories are the directories of this control plane's volumes, other control planes having theirs beside them.
func (cp *ControlPlane) volumeDirectories() ([]string, error) {
	if len(cp.children) == 0 {
		// There was no provisioner.
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var volumes corev1.PersistentVolumeList
	if err := cp.client.List(ctx, &volumes); err != nil {
		return nil, fmt.Errorf("listing volumes: %w", err)
	}
	var directories []string
	for _, volume := range volumes.Items {
		if source := volume.Spec.HostPath; source != nil && filepath.Dir(source.Path) == volumesDir {
			directories = append(directories, source.Path)
		}
	}
	return directories, nil
}

func removeVolumeDirectories(directories []string) error {
	var errs []error
	for _, directory := range directories {
		errs = append(errs, os.RemoveAll(directory))
	}
	return errors.Join(errs...)
}
