package backend

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

// keyServer is an API server with the Secret of all keys as the aggregator makes it, and a count of what is applied.
type keyServer struct {
	client.WithWatch
	t       *testing.T
	applied int
	events  notedEvents
}

// notedEvents are the reasons of the Events that were recorded.
type notedEvents []string

func (e *notedEvents) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	*e = append(*e, reason)
}

func newKeyServer(t *testing.T, objects ...client.Object) *keyServer {
	t.Helper()
	s := &keyServer{t: t}
	s.WithWatch = interceptor.NewClient(serverWith(t, objects...), interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			s.applied++
			return c.Apply(ctx, obj, opts...)
		},
	})
	return s
}

func (s *keyServer) pass(scope *scope) error {
	return (&Reconciler{Client: s, APIReader: s, Recorder: &s.events}).ensureKeys(context.Background(), scope)
}

func (s *keyServer) secret() *corev1.Secret {
	s.t.Helper()
	secret := &corev1.Secret{}
	if err := s.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: v1alpha1.RNDCSecretName}, secret); err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// edit is what a person does to the Secret of all keys.
func (s *keyServer) edit(change func(*corev1.Secret)) {
	s.t.Helper()
	secret := s.secret()
	change(secret)
	if err := s.Update(context.Background(), secret, client.FieldOwner("kubectl-edit")); err != nil {
		s.t.Fatal(err)
	}
}

// copies is a pool's own Secret.
func copies(uid string, index int32, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: builders.KeySecretName(index), Labels: map[string]string{v1alpha1.LabelPoolUID: uid},
		},
		Data: data,
	}
}

var keyStatement = regexp.MustCompile(`^key "(rndc-key-\d+)" \{\n\talgorithm hmac-sha256;\n\tsecret "[A-Za-z0-9+/]{43}=";\n\};\n$`)

func TestEveryServerGetsAKeyOfItsOwnOnce(t *testing.T) {
	s := newKeyServer(t)
	scope := inForce(entry("default", 0, 1, 1), entry("edge", 1, 2, 5))
	if err := s.pass(scope); err != nil {
		t.Fatal(err)
	}
	made := s.secret().Data
	seen := map[string]string{}
	for _, name := range []string{"rndc-key-1", "rndc-key-5", "rndc-key-6"} {
		match := keyStatement.FindStringSubmatch(string(made[name]))
		if len(match) < 2 || match[1] != name {
			t.Fatalf("%s is no key statement of that name", name)
		}
		secret := string(made[name][len(made[name])-60:])
		if other, taken := seen[secret]; taken {
			t.Errorf("%s has the secret of %s", name, other)
		}
		seen[secret] = name
	}
	if len(made) != 3 {
		t.Errorf("there are %d keys, want 3", len(made))
	}
	for range 2 {
		if err := s.pass(scope); err != nil || s.applied != 1 {
			t.Errorf("applied %d times, error %v; want once", s.applied, err)
		}
	}
	if diff := cmp.Diff(made, s.secret().Data); diff != "" {
		t.Error("keys changed though nothing else did")
	}
}

func TestKeysComeAndGoWithServersAndTheOthersStay(t *testing.T) {
	s := newKeyServer(t)
	if err := s.pass(inForce(entry("default", 0, 1, 1), entry("edge", 1, 1, 5))); err != nil {
		t.Fatal(err)
	}
	before := s.secret().Data["rndc-key-1"]
	if err := s.pass(inForce(entry("default", 0, 2, 1))); err != nil {
		t.Fatal(err)
	}
	after := s.secret().Data
	if string(after["rndc-key-1"]) != string(before) || after["rndc-key-2"] == nil || after["rndc-key-5"] != nil || len(after) != 2 {
		t.Error("want the key of the server that stays, one for the new server and none for the one that went")
	}
}

func TestKeysArePutBack(t *testing.T) {
	const uid = "uid-edge"
	for name, test := range map[string]struct {
		// copied says which pool's UID the pool's own Secret bears.
		copied string
		damage func(*corev1.Secret)
		same   bool
	}{
		"one that was deleted":                  {uid, func(s *corev1.Secret) { delete(s.Data, "rndc-key-5") }, true},
		"one that was changed":                  {uid, func(s *corev1.Secret) { s.Data["rndc-key-5"] = []byte("forged") }, true},
		"one that was deleted, and has no copy": {"uid-of-another", func(s *corev1.Secret) { delete(s.Data, "rndc-key-5") }, false},
		"one that was changed, and has no copy": {"uid-of-another", func(s *corev1.Secret) { s.Data["rndc-key-5"] = []byte("forged") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newKeyServer(t)
			scope := inForce(entry("edge", 1, 1, 5))
			scope.backend = &v1alpha1.DesignateBackend{}
			if err := s.pass(scope); err != nil {
				t.Fatal(err)
			}
			key := s.secret().Data["rndc-key-5"]
			if err := s.Create(context.Background(), copies(test.copied, 1, map[string][]byte{"rndc-key-5": key})); err != nil {
				t.Fatal(err)
			}
			s.edit(test.damage)
			s.events = nil
			if err := s.pass(scope); err != nil {
				t.Fatal(err)
			}
			now := s.secret().Data["rndc-key-5"]
			if same := string(now) == string(key); same != test.same || !keyStatement.Match(now) {
				t.Errorf("the key is the same: %v, want %v, and a key in any case", same, test.same)
			}
			// entry makes servers that pools.yaml names: somebody relies on their keys.
			if told := slices.Contains(s.events, v1alpha1.EventKeyMadeAnew); told == test.same {
				t.Errorf("an Event says that the key was made anew: %v", told)
			}
		})
	}
}

func TestTheLossOfTheWholeSecretLosesNoKey(t *testing.T) {
	s := newKeyServer(t)
	scope := inForce(entry("default", 0, 1, 1), entry("edge", 1, 2, 5))
	if err := s.pass(scope); err != nil {
		t.Fatal(err)
	}
	keys := s.secret().Data
	if err := errors.Join(
		s.Create(context.Background(), copies("uid-default", 0, map[string][]byte{"rndc-key-1": keys["rndc-key-1"]})),
		s.Create(context.Background(), copies("uid-edge", 1, map[string][]byte{"rndc-key-5": keys["rndc-key-5"], "rndc-key-6": keys["rndc-key-6"]})),
		s.Delete(context.Background(), s.secret()),
		s.pass(scope),
	); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keys, s.secret().Data); diff != "" {
		t.Error("the keys are not those from before")
	}
}

func TestASecretOfSomebodyElseIsLeftAlone(t *testing.T) {
	foreign := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.RNDCSecretName},
		Data:       map[string][]byte{"rndc-key-1": []byte("theirs")},
	}
	s := newKeyServer(t, foreign)
	err := s.pass(inForce(entry("default", 0, 1, 1)))
	var taken *apply.NameTakenError
	if !errors.As(err, &taken) || s.applied != 0 {
		t.Errorf("applied %d times, error %v; want a NameTakenError", s.applied, err)
	}
}

func TestKeysThatCannotBeReadAreNotMadeAnew(t *testing.T) {
	down := errors.New("the API server is down")
	for name, unreadable := range map[string]string{
		"those of all servers": v1alpha1.RNDCSecretName, "the copies of a pool": builders.KeySecretName(1),
	} {
		t.Run(name, func(t *testing.T) {
			s := newKeyServer(t)
			s.WithWatch = interceptor.NewClient(s.WithWatch, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					if key.Name == unreadable {
						return down
					}
					return c.Get(ctx, key, obj, opts...)
				},
			})
			if err := s.pass(inForce(entry("edge", 1, 1, 5))); !errors.Is(err, down) || s.applied != 0 {
				t.Errorf("applied %d times, error %v; want the error and nothing applied", s.applied, err)
			}
		})
	}
}
