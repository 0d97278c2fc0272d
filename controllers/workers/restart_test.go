package workers

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// counted counts patches, and keeps the last one's body.
func counted(c client.WithWatch, count *int, body *string) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			data, err := patch.Data(object)
			if err != nil {
				return err
			}
			*count++
			*body = string(data)
			return c.Patch(ctx, object, patch, options...)
		},
	})
}

func TestRestartSetsOneAnnotationAndNothingElse(t *testing.T) {
	theirs := func(template *corev1.PodTemplateSpec) {
		template.Annotations = map[string]string{"theirs": "kept"}
	}
	for name, object := range map[string]client.Object{
		"Deployment":  deployment("", func(d *appsv1.Deployment) { theirs(&d.Spec.Template) }),
		"StatefulSet": statefulSet("", func(s *appsv1.StatefulSet) { theirs(&s.Spec.Template) }),
		"DaemonSet":   daemonSet(""),
		"again":       deployment("6-1600000000"),
	} {
		t.Run(name, func(t *testing.T) {
			var patches int
			var body string
			c := counted(server(object), &patches, &body)
			state := read(t, c, workloadOf(object))
			before := read(t, c, workloadOf(object))
			for range 2 {
				if err := Restart(t.Context(), c, "test", state, token); err != nil {
					t.Fatal(err)
				}
			}
			if patches != 1 {
				t.Errorf("it wrote %d times", patches)
			}
			want := `{"metadata":{"resourceVersion":"999"},"spec":{"template":{"metadata":{"annotations":{"` +
				v1alpha1.AnnotationRestartedFor + `":"` + token + `"}}}}}`
			if body != want {
				t.Errorf("the patch is %s", body)
			}
			after := read(t, c, workloadOf(object))
			wanted := before.template.DeepCopy()
			if wanted.Annotations == nil {
				wanted.Annotations = map[string]string{}
			}
			wanted.Annotations[v1alpha1.AnnotationRestartedFor] = token
			if diff := cmp.Diff(wanted, after.template); diff != "" {
				t.Errorf("the template (-want +got):\n%s", diff)
			}
			if _, why := state.Restarted(token); strings.Contains(why, "not been told") {
				t.Errorf("the state does not know of it: %s", why)
			}
		})
	}
}

// TestRestartDoesNotOverwriteAChange: what has changed since is looked at again first.
func TestRestartDoesNotOverwriteAChange(t *testing.T) {
	c := server(deployment(""))
	state := read(t, c, workloadOf(deployment("")))
	changed := &appsv1.Deployment{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(deployment("")), changed); err != nil {
		t.Fatal(err)
	}
	changed.Spec.Paused = true
	if err := c.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Restart(t.Context(), c, "test", state, token); !apierrors.IsConflict(err) {
			t.Errorf("error %v, want a conflict every time", err)
		}
	}
	if _, why := state.Restarted(token); !strings.Contains(why, "not been told") {
		t.Errorf("a restart that failed is taken for one: %q", why)
	}
}
