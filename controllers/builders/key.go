package builders

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
)

const (
	// keyAlgorithm is the algorithm of every key.
	keyAlgorithm = "hmac-sha256"
	// keyBytes is the length of a key's secret: 256 bits, the output of its hash (RFC 8945, section 6).
	keyBytes = 32
)

// Key is a key that BIND shares with somebody: an RNDC key with whoever controls a server, a TSIG key (RFC 8945) with the primaries
// of its zones.
type Key struct {
	Name      string
	Algorithm string
	// Secret in base64.
	Secret string
}

// NewKey makes a key.
func NewKey(name string) (Key, error) {
	random := make([]byte, keyBytes)
	if _, err := rand.Read(random); err != nil {
		return Key{}, errors.Join(fmt.Errorf("no random numbers for the key %s", name), err)
	}
	return Key{name, keyAlgorithm, base64.StdEncoding.EncodeToString(random)}, nil
}

// Statement is the key as named and rndc read it.
func (k Key) Statement() []byte {
	return fmt.Appendf(nil, "key %q {\n\talgorithm %s;\n\tsecret %q;\n};\n", k.Name, k.Algorithm, k.Secret)
}

// usable says that algorithm and secret are such as NewKey makes.
func (k Key) usable() bool {
	secret, err := base64.StdEncoding.Strict().DecodeString(k.Secret)
	return k.Algorithm == keyAlgorithm && err == nil && len(secret) >= keyBytes && base64.StdEncoding.EncodeToString(secret) == k.Secret
}

// String tells nothing of the secret, so that nobody logs it by accident.
func (k Key) String() string { return "key " + k.Name }

// GoString is for %#v what String is for all else.
func (k Key) GoString() string { return k.String() }

// MarshalLog is the same for logs, which would print the fields.
func (k Key) MarshalLog() any { return k.String() }
