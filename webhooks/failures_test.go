package webhooks

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

var errUnreachable = errors.New("the API server cannot be reached")

// without is a reader that fails on one type of object and reads the others.
func without(t *testing.T, unreadable client.Object, stored ...client.Object) client.Reader {
	t.Helper()
	kind := fmt.Sprintf("%T", unreadable)
	return interceptor.NewClient(storing(t, stored...), interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption,
		) error {
			if fmt.Sprintf("%T", object) == kind {
				return errUnreachable
			}
			return c.Get(ctx, key, object, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if fmt.Sprintf("%T", list) == kind+"List" {
				return errUnreachable
			}
			return c.List(ctx, list, opts...)
		},
	})
}

func TestWhatCannotBeReadIsNeverTakenForAbsent(t *testing.T) {
	backend := makeBackend().Obj()
	edge := makePool("edge").FromBridge().Obj()
	defaultPool := makePool("default").FromBridge().Obj()
	unreachable := verdict{mentions: []string{errUnreachable.Error()}}
	tests := map[string]struct {
		path   string
		change change
		reader client.Reader
		want   verdict
	}{
		"a new pool, when its namesakes cannot be listed": {
			path: poolPath, change: change{after: makePool("edge").Obj()},
			reader: without(t, &v1alpha1.DesignatePool{}), want: unreachable,
		},
		"a new pool, when the ledger cannot be read": {
			path: poolPath, change: change{after: makePool("edge").Obj()},
			reader: without(t, poolsListed()), want: unreachable,
		},
		"a deletion, when the other pools cannot be listed": {
			path: poolPath, change: change{before: edge},
			reader: without(t, edge, backend, edge), want: unreachable,
		},
		"the default pool's deletion, when the DesignateBackend cannot be read": {
			path: poolPath, change: change{before: defaultPool},
			reader: without(t, backend, backend, defaultPool), want: unreachable,
		},
		"a deletion, when the list of pools cannot be read": {
			path: poolPath, change: change{before: edge},
			reader: without(t, poolsListed(), backend, edge), want: unreachable,
		},
		"a change of the default pool's spec, when its source cannot be told": {
			path: poolPath, change: change{before: defaultPool, after: makePool("default").FromBridge().Replicas(3).Obj()},
			reader: without(t, poolsListed(), backend, defaultPool), want: unreachable,
		},
		"a new list, when the mode cannot be read": {
			path: configMapPath, change: change{after: poolsListed("default")},
			reader: without(t, backend, backend), want: unreachable,
		},
		"a list deleted while it has faults, when its pools cannot be listed": {
			path: configMapPath, change: change{before: poolsText("[]")},
			reader: without(t, edge, edge), want: unreachable,
		},
		"a DesignateBackend's deletion, when its pools cannot be listed": {
			path: backendPath, change: change{before: backend},
			reader: without(t, edge, edge), want: unreachable,
		},
		"a scale, when its pool cannot be read": {
			path: scalePath, change: change{before: scale(1), after: scale(2)},
			reader: without(t, edge, edge), want: unreachable,
		},
		"a denial stands when nobody knows whether the namespace is being deleted": {
			path: scalePath, change: change{before: scale(1), after: scale(2)},
			reader: without(t, terminatingNamespace(), terminatingNamespace(), edge),
			want: verdict{denied: editConfigMap +
				" (whether namespace dns is being deleted could not be told: " + errUnreachable.Error() + ")"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.want.check(t, askReader(t, test.path, test.change, test.reader))
		})
	}
}
