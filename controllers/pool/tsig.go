package pool

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// applyTSIGKey keeps the Secret with the pool's TSIG key, and tells the builders which key that is.
func (r *Reconciler) applyTSIGKey(ctx context.Context, s *scope, pool *builders.Pool) error {
	if !pool.Signed() {
		return nil
	}
	key, err := r.tsigKey(ctx, s)
	if err != nil {
		s.blame(v1alpha1.ReasonWriteFailed, err.Error())
		return err
	}
	if key == nil {
		s.blame(v1alpha1.ReasonWaitingForKeys, fmt.Sprintf("The TSIG key in Secret %s is lost, and Designate has to be asked for the "+
			"one that it has before another is made: servers go on with theirs.", builders.TSIGSecretName(s.entry.Index)))
		return nil
	}
	pool.TSIG = *key
	return ensure(ctx, s, &corev1.Secret{}, corev1ac.ExtractSecret, builders.TSIGSecret(pool))
}

// tsigKey is the key that the pool's servers are to have; nil while that is in doubt.
func (r *Reconciler) tsigKey(ctx context.Context, s *scope) (*builders.Key, error) {
	var present builders.Key
	// What the cache has was written once. What it lacks may be there all the same.
	for _, reader := range []client.Reader{r.Client, r.APIReader} {
		written, found, err := readTSIGKey(ctx, reader, s)
		if err != nil {
			return nil, err
		}
		if written.IsTSIGOf(s.pool.UID) {
			return &written, nil
		}
		present = found
	}
	registered, known := s.tsig.Registered(s.pool.UID)
	key, fresh := lostTSIGKey(s.entry, s.backend.Spec.Designate.Access != nil, known, registered, present)
	if !fresh {
		return key, nil
	}
	made, err := builders.NewKey(builders.TSIGKeyName(s.pool.UID))
	if err != nil {
		return nil, err
	}
	log.FromContext(ctx).Info("Made a TSIG key", "pool", s.entry.Name, "key", made.Name)
	return &made, nil
}

// readTSIGKey reads the pool's Secret: written is the key as far as this controller wrote it, and present as it is there.
func readTSIGKey(ctx context.Context, reader client.Reader, s *scope) (written, present builders.Key, err error) {
	secret := &corev1.Secret{}
	name := builders.TSIGSecretName(s.entry.Index)
	err = reader.Get(ctx, client.ObjectKey{Namespace: s.pool.Namespace, Name: name}, secret)
	if client.IgnoreNotFound(err) != nil {
		return written, present, fmt.Errorf("read Secret %s: %w", name, err)
	}
	applied, err := corev1ac.ExtractSecret(secret, string(FieldOwner))
	if err != nil {
		return written, present, fmt.Errorf("what was applied to Secret %s: %w", name, err)
	}
	if secret.Labels[v1alpha1.LabelPoolUID] != string(s.pool.UID) {
		return written, present, nil
	}
	return builders.TSIGKeyIn(applied.Data), builders.TSIGKeyIn(secret.Data), nil
}

// lostTSIGKey is the key of a pool whose Secret is gone or was changed by somebody else: the one that Designate has, for
// transfers go on with that. Where it has none, or cannot be asked, what is in the Secret is as good as any, such as one that
// came back from a backup; else a fresh one has to be made. While Designate has yet to be asked, there is nothing to do but
// wait, unless nobody can have the key: Designate knows nothing of a pool that was never in pools.yaml.
func lostTSIGKey(
	entry *ledger.Pool, access, known bool, registered *designate.TSIGKey, present builders.Key,
) (key *builders.Key, fresh bool) {
	if registered != nil {
		theirs := builders.Key{Name: registered.Name, Algorithm: registered.Algorithm, Secret: registered.Secret}
		if theirs.IsTSIGOf(entry.UID) {
			return &theirs, false
		}
	}
	if access && !known && slices.ContainsFunc(entry.Servers, ledger.Server.Listed) {
		return nil, false
	}
	if present.IsTSIGOf(entry.UID) {
		return &present, false
	}
	return nil, true
}

// tsigCondition is the condition TSIGKeyReady; nil where transfers are not signed.
func (s *scope) tsigCondition() *metav1.Condition {
	if s.entry == nil || s.entry.Name == v1alpha1.DefaultPoolName || s.entry.Removing() || s.backend == nil {
		return nil
	}
	if s.backend.Spec.Designate.Access == nil {
		return &metav1.Condition{
			Type: v1alpha1.ConditionTSIGKeyReady, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonRegisteredByAdministrator,
			Message: fmt.Sprintf("Without access to Designate, registering the key in Secret %s there is left to people.",
				builders.TSIGSecretName(s.entry.Index)),
		}
	}
	if condition, known := s.tsig.Condition(s.pool.UID); known {
		return &condition
	}
	// As the operator that ran before left it, so that a restart makes nothing flap.
	before := meta.FindStatusCondition(s.pool.Status.Conditions, v1alpha1.ConditionTSIGKeyReady)
	if before != nil && before.Reason != v1alpha1.ReasonRegisteredByAdministrator {
		return before
	}
	return &metav1.Condition{
		Type: v1alpha1.ConditionTSIGKeyReady, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonWaitingForListing,
		Message: "Designate has not been asked for its TSIG keys yet since this operator started.",
	}
}
