package webhooks

import (
	"context"
	"errors"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// answering is an API server that answers a SelfSubjectReview with a name, after it has failed a number of times.
func answering(t *testing.T, name string, failures int, asked *int) client.Client {
	t.Helper()
	return interceptor.NewClient(fake.NewClientBuilder().WithScheme(testScheme(t)).Build(), interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			*asked++
			if *asked <= failures {
				return errUnreachable
			}
			review, ok := object.(*authenticationv1.SelfSubjectReview)
			if !ok {
				t.Errorf("a %T was created", object)
				return nil
			}
			review.Status.UserInfo.Username = name
			return nil
		},
	})
}

func TestTheOperatorAsksForItsNameUntilItIsTold(t *testing.T) {
	asked := 0
	got, err := OperatorName(context.Background(), answering(t, operator, 2, &asked))
	if err != nil || got != operator || asked != 3 {
		t.Errorf("OperatorName() = %q, %v after %d questions; want %q after 3", got, err, asked, operator)
	}
}

func TestTheOperatorStopsAskingWhenItEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	asked := 0
	got, err := OperatorName(ctx, answering(t, operator, 1000, &asked))
	if !errors.Is(err, context.Canceled) || got != "" {
		t.Errorf("OperatorName() = %q, %v; want no name and %v", got, err, context.Canceled)
	}
}
