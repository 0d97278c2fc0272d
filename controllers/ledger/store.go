package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
)

// ErrLost says that there is no usable ledger: it has to be planned anew from what exists.
var ErrLost = errors.New("the ledger is missing or cannot be read")

// Stored is a ledger together with the ConfigMap that holds it.
type Stored struct {
	Ledger
	configMap *corev1.ConfigMap
	// garbled says that the ConfigMap does not hold what Ledger says.
	garbled bool
}

// Read reads the ledger of a namespace. The error is ErrLost, with a Stored that Write can replace, when there is none
// or it is garbled; and any other error says that nobody knows whether there is one.
func Read(ctx context.Context, reader client.Reader, namespace string) (*Stored, error) {
	stored := &Stored{Ledger: Ledger{Version: formatVersion}}
	configMap := &corev1.ConfigMap{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1alpha1.LedgerName}, configMap)
	switch {
	case apierrors.IsNotFound(err):
		return stored, ErrLost
	case err != nil:
		return nil, fmt.Errorf("read ConfigMap %s: %w", v1alpha1.LedgerName, err)
	}
	if err := apply.OfOperator(configMap); err != nil {
		return nil, err
	}
	stored.configMap, stored.garbled = configMap, true
	if version := versionOf(configMap.Data[v1alpha1.LedgerKey]); version > formatVersion {
		// A newer operator wrote it. Planning anew could give away numbers that its format protects.
		return nil, fmt.Errorf("ConfigMap %s has format version %d, and this operator knows %d: run the newer operator again",
			v1alpha1.LedgerName, version, formatVersion)
	}
	read, err := Decode(configMap)
	if err != nil {
		return stored, err
	}
	stored.Ledger, stored.garbled = read, false
	return stored, nil
}

// Write stores a ledger if it differs from the one that was read, which must be the newest, and says whether it did.
//
// Where there was none, one that records nothing is not made.
func (s *Stored) Write(ctx context.Context, c client.Client, namespace string, next *Ledger) (bool, error) {
	if s.configMap != nil && !s.garbled && equality.Semantic.DeepEqual(&s.Ledger, next) {
		return false, nil
	}
	if s.configMap == nil && next.Mode == "" && len(next.Pools) == 0 {
		return false, nil
	}
	text, err := encode(next)
	if err != nil {
		return false, err
	}
	if s.configMap == nil {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      v1alpha1.LedgerName,
			Labels:    map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator},
		}, Data: map[string]string{v1alpha1.LedgerKey: text}}
		err = c.Create(ctx, configMap)
		s.configMap = configMap
	} else {
		s.configMap.Data = map[string]string{v1alpha1.LedgerKey: text}
		err = c.Update(ctx, s.configMap)
	}
	if err != nil {
		return false, fmt.Errorf("write ConfigMap %s: %w", v1alpha1.LedgerName, err)
	}
	s.Ledger, s.garbled = *next.DeepCopy(), false
	return true, nil
}

// encode writes JSON, which takes whatever people type into a description; YAML refuses some of it.
func encode(ledger *Ledger) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(ledger); err != nil {
		return "", fmt.Errorf("encode the ledger: %w", err)
	}
	return text.String(), nil
}

// versionOf is the format version that a text claims, whatever else it holds; 0 when it claims none.
func versionOf(text string) int {
	var claim struct {
		Version int `json:"version"`
	}
	if json.Unmarshal([]byte(text), &claim) != nil {
		return 0
	}
	return claim.Version
}

// Decode reads the ledger that a ConfigMap holds; the error is ErrLost when it holds none of this format. A field that
// it does not know is left out: it is one that a newer operator of the same format has added to a pool's spec, and going
// back to this one must not lose the ledger.
func Decode(configMap *corev1.ConfigMap) (Ledger, error) {
	var ledger Ledger
	if err := json.Unmarshal([]byte(configMap.Data[v1alpha1.LedgerKey]), &ledger); err != nil {
		return Ledger{}, fmt.Errorf("%w: %w", ErrLost, err)
	}
	if ledger.Version != formatVersion {
		return Ledger{}, fmt.Errorf("%w: it claims format version %d", ErrLost, ledger.Version)
	}
	return ledger, nil
}
