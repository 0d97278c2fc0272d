package webhooks

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/acceptance"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatepools,verbs=get;list
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get

// youngest is a creation time after that of everything that is stored.
var youngest = metav1.Unix(1<<40, 0)

// checkNameIsFree tells whether a pool that is not stored yet would hold its name, or who does. Of two that are made
// within a second, the time's resolution, the stored one counts as the older.
func (v poolValidator) checkNameIsFree(ctx context.Context, pool *v1alpha1.DesignatePool) error {
	stored, err := poolsOf(ctx, v.reader, pool.Namespace)
	if err != nil {
		return err
	}
	candidate := *pool.DeepCopy()
	candidate.CreationTimestamp = youngest
	verdict, err := v.judge(ctx, append(stored, candidate), pool)
	if err != nil || verdict.Holds {
		return err
	}
	return errors.New(verdict.Message)
}

// holdsItsName tells whether a stored pool is the one that has its name in Designate.
func (v poolValidator) holdsItsName(ctx context.Context, pool *v1alpha1.DesignatePool) (bool, error) {
	stored, err := poolsOf(ctx, v.reader, pool.Namespace)
	if err != nil {
		return false, err
	}
	verdict, err := v.judge(ctx, stored, pool)
	return verdict.Holds, err
}

// judge is the controllers' own opinion of a pool among all of its namespace.
func (v poolValidator) judge(
	ctx context.Context, all []v1alpha1.DesignatePool, pool *v1alpha1.DesignatePool,
) (acceptance.Verdict, error) {
	record, err := ledger.Read(ctx, v.reader, pool.Namespace)
	if err != nil && !errors.Is(err, ledger.ErrLost) {
		return acceptance.Verdict{}, err
	}
	return acceptance.Judge(all, record.Pools)[pool.UID], nil
}

// poolsOf returns the DesignatePools of a namespace.
func poolsOf(
	ctx context.Context, reader client.Reader, namespace string,
) ([]v1alpha1.DesignatePool, error) {
	var list v1alpha1.DesignatePoolList
	if err := reader.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing DesignatePools: %w", err)
	}
	return list.Items, nil
}
