package backend

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/rndckeys"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// ensureKeys keeps one key for each server in the Secret that Designate's worker mounts, and drops those of servers that
// are gone. A key that is lost or was changed by hand is put back as its pool's own Secret has it, so that the server and
// Designate go on agreeing; only one that nobody has is made anew.
func (r *Reconciler) ensureKeys(ctx context.Context, s *scope) error {
	// From the API server: a cache that is behind would have a key made twice, with two secrets.
	current, err := rndckeys.Read(ctx, r.APIReader, s.namespace)
	if err != nil {
		return err
	}
	keys := map[string][]byte{}
	for _, entry := range s.stored.Pools {
		for _, server := range slices.Concat(entry.Servers, entry.FormerServers()) {
			name := conversion.RNDCKeyName(server.RNDCKey)
			if keys[name] = current[name]; keys[name] != nil {
				continue
			}
			if keys[name], err = r.lostKey(ctx, s, &entry, server, name); err != nil {
				return err
			}
		}
	}
	desired := corev1ac.Secret(v1alpha1.RNDCSecretName, s.namespace).
		WithLabels(map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator}).
		WithData(keys)
	object := apply.Object[*corev1.Secret, *corev1ac.SecretApplyConfiguration]{
		Live: &corev1.Secret{}, Extract: corev1ac.ExtractSecret,
	}
	_, err = apply.Ensure(ctx, r.writer(), object, desired, apply.OfOperator)
	return err
}

// lostKey is the key of a server as its pool's own Secret has it, else a new one.
func (r *Reconciler) lostKey(
	ctx context.Context, s *scope, entry *ledger.Pool, server ledger.Server, name string,
) ([]byte, error) {
	// From the API server: a Secret that lost its label is missing from the cache, and the key in it is not.
	copies, err := rndckeys.Copies(ctx, r.APIReader, s.namespace, builders.KeySecretName(entry.Index), string(entry.UID))
	if err != nil {
		return nil, err
	}
	if copies[name] != nil {
		log.FromContext(ctx).Info("Putting back RNDC key", "key", name, "pool", entry.Name)
		return copies[name], nil
	}
	if server.Listed() && s.backend != nil {
		r.Recorder.Eventf(s.backend, nil, corev1.EventTypeWarning, v1alpha1.EventKeyMadeAnew, "EnsureKeys",
			"The key %s of server %d of pool %q was lost with every copy and is made anew: delete the server's pod, and restart "+
				"Designate's worker, so that both read the new one.", name, server.Ordinal, entry.Name)
	}
	key, err := builders.NewKey(name)
	if err != nil {
		return nil, err
	}
	return key.Statement(), nil
}

func (r *Reconciler) writer() apply.Writer {
	return apply.Writer{Client: r.Client, Live: r.APIReader, Owner: FieldOwner}
}
