package webhooks

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// OperatorName asks the API server under which user name it knows this process, again and again until it answers or
// the context ends: without the name the operator would deny its own writes.
func OperatorName(ctx context.Context, creator client.Writer) (string, error) {
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 10, Cap: 10 * time.Second}
	var name string
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		var review authenticationv1.SelfSubjectReview
		if err := creator.Create(ctx, &review); err != nil {
			log.FromContext(ctx).Info("Cannot ask for the operator's own user name yet", "error", err.Error())
			return false, nil
		}
		name = review.Status.UserInfo.Username
		return name != "", nil
	})
	if err != nil {
		return "", fmt.Errorf("asking for the operator's own user name: %w", err)
	}
	return name, nil
}
