package builders

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func TestTheDefaultPoolKnowsNothingOfTSIG(t *testing.T) {
	pool := single()
	text := fmt.Sprint(namedConf(pool), StatefulSet(pool, 2).Spec.Template.Spec)
	if strings.Contains(text, "tsig") || strings.Contains(text, TSIGKeyName(pool.UID)) {
		t.Errorf("the default pool has something of TSIG:\n%s", text)
	}
	before := configHash(pool)
	pool.TSIG.Secret, pool.Primaries = "other", nil
	if configHash(pool) != before {
		t.Error("a TSIG key restarts the default pool's servers")
	}
}

func TestValidTSIGKeys(t *testing.T) {
	const uid types.UID = "uid-edge"
	for name, test := range map[string]struct {
		change func(*Key)
		want   bool
	}{
		"a new one":                  {func(*Key) {}, true},
		"no name":                    {func(k *Key) { k.Name = "" }, false},
		"another pool's":             {func(k *Key) { k.Name = TSIGKeyName("uid-other") }, false},
		"another algorithm":          {func(k *Key) { k.Algorithm = "hmac-md5" }, false},
		"no secret":                  {func(k *Key) { k.Secret = "" }, false},
		"too short a secret":         {func(k *Key) { k.Secret = "c2hvcnQ=" }, false},
		"a secret that is no base64": {func(k *Key) { k.Secret = "\"; }; include \"/etc/passwd\"; //" }, false},
		"a secret on several lines":  {func(k *Key) { k.Secret = k.Secret[:20] + "\n" + k.Secret[20:] }, false},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := NewKey(TSIGKeyName(uid))
			if err != nil {
				t.Fatal(err)
			}
			test.change(&key)
			if got := key.IsTSIGOf(uid); got != test.want {
				t.Errorf("valid: %v, want %v", got, test.want)
			}
		})
	}
}

func TestATSIGKeyIsReadAsItWasWritten(t *testing.T) {
	pool := edge()
	if got := TSIGKeyIn(TSIGSecret(pool).Data); got != pool.TSIG {
		t.Error("the key in the Secret is another one")
	}
}

func TestNoTwoTSIGKeysAreTheSame(t *testing.T) {
	first, err := NewKey(TSIGKeyName("uid"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewKey(TSIGKeyName("uid"))
	if err != nil {
		t.Fatal(err)
	}
	if first.Secret == second.Secret {
		t.Error("two new keys have one secret")
	}
}

// R34: whoever prints a key prints no secret.
func TestATSIGKeyTellsNothingOfItsSecret(t *testing.T) {
	key := edge().TSIG
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", key, key, key), fmt.Sprint(key.MarshalLog())} {
		if strings.Contains(text, key.Secret) {
			t.Errorf("the secret shows in %q", text)
		}
	}
}

// TestBINDTakesSignedTransfers has BIND itself read what servers of a pool would, with the paths of this test.
func TestBINDTakesSignedTransfers(t *testing.T) {
	checker, err := exec.LookPath("named-checkconf")
	if err != nil {
		t.Skip("this machine has no BIND")
	}
	pool, directory := edge(), t.TempDir()
	pool.Primaries = append(pool.Primaries, v1alpha1.Primary{Address: "2001:db8::2", Port: 53})
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(tsigConfKey, string(TSIGSecret(pool).Data[tsigConfKey]))
	write("named.conf", strings.ReplaceAll(signedTransfers(pool), tsigDirectory, directory))
	output, err := exec.CommandContext(t.Context(), checker, filepath.Join(directory, "named.conf")).CombinedOutput()
	if err != nil {
		t.Errorf("named-checkconf: %v\n%s", err, output)
	}
}
