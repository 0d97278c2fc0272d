package requests

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// asked are the names, with their namespaces, for which an event on an object asks.
func asked(t *testing.T, h handler.EventHandler, object client.Object) []string {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	h.Create(context.Background(), event.CreateEvent{Object: object}, queue)
	var names []string
	for queue.Len() > 0 {
		request, _ := queue.Get()
		names = append(names, request.String())
		queue.Done(request)
	}
	return names
}

func TestRequests(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	pool := func(namespace, name string) *v1alpha1.DesignatePool {
		return &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	cache := fake.NewClientBuilder().WithScheme(scheme).WithObjects(pool("dns", "a"), pool("dns", "b"), pool("other", "c")).Build()
	stopped := interceptor.NewClient(cache, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("stopped")
		},
	})
	object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "s", Labels: map[string]string{v1alpha1.LabelPool: "edge"}}}
	unlabelled := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "s"}}
	for name, test := range map[string]struct {
		handler handler.EventHandler
		object  client.Object
		want    []string
	}{
		"the backend of the namespace, whether it exists or not": {ToBackend(), unlabelled, []string{"dns/designate"}},
		"the pool that the label names":                          {ToPool(), object, []string{"dns/edge"}},
		"no pool without the label":                              {ToPool(), unlabelled, nil},
		"all pools of the namespace and of no other":             {ToAllPools(cache), unlabelled, []string{"dns/a", "dns/b"}},
		"none when the cache is being stopped":                   {ToAllPools(stopped), unlabelled, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, asked(t, test.handler, test.object)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
