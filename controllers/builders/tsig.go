package builders

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const (
	tsigVolume    = "tsig"
	tsigDirectory = "/etc/bind/tsig"
	tsigSuffix    = "-tsig"

	tsigNameKey      = "name"
	tsigAlgorithmKey = "algorithm"
	tsigSecretKey    = "secret"
	tsigConfKey      = "tsig.conf"
)

// TSIGKeyName is the name of a pool's key. It is the DesignatePool's own, for several namespaces and clusters may share one
// Designate, in which names of keys are unique.
func TSIGKeyName(pool types.UID) string { return "designate-pool-" + string(pool) }

// IsTSIGOf says that a key can be the TSIG key of a pool: what it says reaches the configuration of BIND.
func (k Key) IsTSIGOf(pool types.UID) bool { return k.Name == TSIGKeyName(pool) && k.usable() }

// TSIGKeyIn is the key in the data of a pool's Secret, whether it is valid or not.
func TSIGKeyIn(data map[string][]byte) Key {
	return Key{string(data[tsigNameKey]), string(data[tsigAlgorithmKey]), string(data[tsigSecretKey])}
}

// TSIGSecret holds the TSIG key of a pool, as people and Designate's API take it, and as BIND does.
func TSIGSecret(pool *Pool) *corev1ac.SecretApplyConfiguration {
	key := pool.TSIG
	return corev1ac.Secret(TSIGSecretName(pool.Index), pool.Namespace).
		WithLabels(pool.labels()).
		WithAnnotations(pool.annotations()).
		WithData(map[string][]byte{
			tsigNameKey:      []byte(key.Name),
			tsigAlgorithmKey: []byte(key.Algorithm),
			tsigSecretKey:    []byte(key.Secret),
			tsigConfKey:      key.Statement(),
		})
}

// Signed says that transfers to the servers of the pool are signed: all pools' are but the default one's, which takes the
// zones that ask for no pool, with or without a key.
func (p *Pool) Signed() bool { return p.Name != v1alpha1.DefaultPoolName }

// signedTransfers has the servers sign what they ask of each primary. BIND goes by its address, whatever the port.
func signedTransfers(pool *Pool) string {
	if !pool.Signed() {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "include %q;\n", tsigDirectory+"/"+tsigConfKey)
	written := map[string]bool{}
	for _, primary := range pool.Primaries {
		if !written[primary.Address] {
			fmt.Fprintf(&text, "server %s {\n\tkeys { %q; };\n};\n", primary.Address, TSIGKeyName(pool.UID))
		}
		written[primary.Address] = true
	}
	return text.String()
}

// tsigHash changes with the key: a server reads it only when it starts.
func tsigHash(pool *Pool) string {
	if !pool.Signed() {
		return ""
	}
	sum := sha256.Sum256([]byte(pool.TSIG.Name + "\n" + pool.TSIG.Algorithm + "\n" + pool.TSIG.Secret))
	return hex.EncodeToString(sum[:])
}

func tsigVolumes(pool *Pool) []*corev1ac.VolumeApplyConfiguration {
	if !pool.Signed() {
		return nil
	}
	return []*corev1ac.VolumeApplyConfiguration{corev1ac.Volume().WithName(tsigVolume).
		WithSecret(corev1ac.SecretVolumeSource().WithSecretName(TSIGSecretName(pool.Index)).WithDefaultMode(0o440))}
}

func tsigMounts(pool *Pool) []*corev1ac.VolumeMountApplyConfiguration {
	if !pool.Signed() {
		return nil
	}
	return []*corev1ac.VolumeMountApplyConfiguration{
		corev1ac.VolumeMount().WithName(tsigVolume).WithMountPath(tsigDirectory).WithReadOnly(true),
	}
}

// IsTSIGSecret says that an object, if it is a Secret, has the name and the label of one with a pool's TSIG key.
func IsTSIGSecret(object metav1.Object) bool {
	return object.GetLabels()[v1alpha1.LabelPoolUID] != "" && strings.HasSuffix(object.GetName(), tsigSuffix)
}
