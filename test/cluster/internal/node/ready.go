//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"
)

const (
	pollInterval = 100 * time.Millisecond
	// stepTimeout is for one step on a busy machine; an idle one needs a tenth of it.
	stepTimeout = 2 * time.Minute
)

// wait tries until there is no error, time is up or a program has died.
func (n *Node) wait(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var last error
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-n.components.died:
			return false, err
		default:
		}
		last = try(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %s: %w (the last try: %w)", what, err, last)
	}
	return nil
}

func (n *Node) apiReady(ctx context.Context) error {
	return n.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// waitForNode waits until pods can be made and run.
func (n *Node) waitForNode(ctx context.Context) error {
	if err := n.wait(ctx, "the node is ready", n.nodeReady); err != nil {
		return err
	}
	return n.wait(ctx, "there is a service account for pods", func(ctx context.Context) error {
		_, err := n.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func (n *Node) nodeHasAddress(ctx context.Context) error {
	node, err := n.client.CoreV1().Nodes().Get(ctx, hostName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Type == corev1.NodeInternalIP }) {
		return errors.New("it has no address")
	}
	return nil
}

func (n *Node) nodeReady(ctx context.Context) error {
	node, err := n.client.CoreV1().Nodes().Get(ctx, hostName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			return nil
		}
		return errors.New(condition.Message)
	}
	return errors.New("it has no condition Ready")
}

func (n *Node) createStorageClass(ctx context.Context) error {
	text, err := files.ReadFile("files/storageclass.yaml")
	if err != nil {
		return err
	}
	var class storagev1.StorageClass
	if err := yaml.UnmarshalStrict(text, &class); err != nil {
		return err
	}
	_, err = n.client.StorageV1().StorageClasses().Create(ctx, &class, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
