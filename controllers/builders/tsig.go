package builders

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
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

	// TSIGAlgorithm is the algorithm of every key.
	TSIGAlgorithm = "hmac-sha256"
	// tsigBytes is the length of a key's secret: 256 bits, the output of its hash (RFC 8945, section 6).
	tsigBytes = 32

	tsigNameKey      = "name"
	tsigAlgorithmKey = "algorithm"
	tsigSecretKey    = "secret"
	tsigConfKey      = "tsig.conf"
)

// TSIGKey is the key with which the servers of a pool and Designate's mdns sign zone transfers (RFC 8945).
type TSIGKey struct {
	Name      string
	Algorithm string
	// Secret in base64.
	Secret string
}

// String tells nothing of the secret, so that nobody logs it by accident.
func (k TSIGKey) String() string { return "TSIG key " + k.Name }

// GoString is for %#v what String is for all else.
func (k TSIGKey) GoString() string { return k.String() }

// MarshalLog is the same for logs, which would print the fields.
func (k TSIGKey) MarshalLog() any { return k.String() }

// TSIGKeyName is the name of a pool's key. It is the DesignatePool's own, for several namespaces and clusters may share one
// Designate, in which names of keys are unique.
func TSIGKeyName(pool types.UID) string { return "designate-pool-" + string(pool) }

// NewTSIGKey makes a key for a pool.
func NewTSIGKey(pool types.UID) (TSIGKey, error) {
	random := make([]byte, tsigBytes)
	if _, err := rand.Read(random); err != nil {
		return TSIGKey{}, errors.Join(errors.New("no random numbers for a TSIG key"), err)
	}
	return TSIGKey{TSIGKeyName(pool), TSIGAlgorithm, base64.StdEncoding.EncodeToString(random)}, nil
}

// Valid says that a key can be that of a pool: what it says reaches the configuration of BIND.
func (k TSIGKey) Valid(pool types.UID) bool {
	secret, err := base64.StdEncoding.Strict().DecodeString(k.Secret)
	return k.Name == TSIGKeyName(pool) && k.Algorithm == TSIGAlgorithm && err == nil && len(secret) >= tsigBytes &&
		base64.StdEncoding.EncodeToString(secret) == k.Secret
}

// TSIGKeyIn is the key in the data of a pool's Secret, whether it is valid or not.
func TSIGKeyIn(data map[string][]byte) TSIGKey {
	return TSIGKey{string(data[tsigNameKey]), string(data[tsigAlgorithmKey]), string(data[tsigSecretKey])}
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
			tsigConfKey: fmt.Appendf(nil, "key %q {\n\talgorithm %s;\n\tsecret %q;\n};\n",
				key.Name, key.Algorithm, key.Secret),
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
