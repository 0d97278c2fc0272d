package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var secretKey = types.NamespacedName{Namespace: "operators", Name: "webhook"}

func certificateSecret(certificate, key string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: secretKey.Name},
		Data: map[string][]byte{
			"tls.crt": []byte(certificate), "tls.key": []byte(key), "ca.crt": []byte("authority"), "ca.key": []byte("its key"),
		},
	}
}

func writeFiles(t *testing.T, directory string, reader client.Reader) error {
	t.Helper()
	_, err := (&certificateFiles{reader: reader, directory: directory}).
		Reconcile(context.Background(), ctrl.Request{NamespacedName: secretKey})
	return err
}

func expectFiles(t *testing.T, directory string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if len(entries) != len(want) {
		t.Errorf("%d files in the directory, want %d: %v", len(entries), len(want), entries)
	}
	for name, content := range want {
		path := filepath.Join(directory, name)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != content {
			t.Errorf("%s holds %q, want %q", name, got, content)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v), want 0600", name, info.Mode(), err)
		}
	}
}

func TestTheCertificateIsWrittenAndRenewedInFiles(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "made", "when", "needed")
	for _, generation := range []string{"first", "second"} {
		reader := fake.NewClientBuilder().WithObjects(certificateSecret(generation, generation+" key")).Build()
		if err := writeFiles(t, directory, reader); err != nil {
			t.Fatal(err)
		}
		expectFiles(t, directory, map[string]string{"tls.crt": generation, "tls.key": generation + " key"})
	}
}

func TestACertificateThatHasNotChangedIsNotWrittenAgain(t *testing.T) {
	directory := t.TempDir()
	reader := fake.NewClientBuilder().WithObjects(certificateSecret("certificate", "key")).Build()
	var before [2]os.FileInfo
	for pass := range before {
		if err := writeFiles(t, directory, reader); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(directory, "tls.crt"))
		if err != nil {
			t.Fatal(err)
		}
		before[pass] = info
	}
	if !os.SameFile(before[0], before[1]) {
		t.Error("the second pass replaced a file that was as it should be")
	}
}

func TestWhatServesStaysWhenTheSecretHasNoCertificate(t *testing.T) {
	directory := t.TempDir()
	full := fake.NewClientBuilder().WithObjects(certificateSecret("certificate", "key")).Build()
	if err := writeFiles(t, directory, full); err != nil {
		t.Fatal(err)
	}
	tests := map[string]client.Reader{
		"it is gone":          fake.NewClientBuilder().Build(),
		"it is empty":         fake.NewClientBuilder().WithObjects(certificateSecret("", "")).Build(),
		"it has but one half": fake.NewClientBuilder().WithObjects(certificateSecret("other", "")).Build(),
	}
	for name, reader := range tests {
		t.Run(name, func(t *testing.T) {
			if err := writeFiles(t, directory, reader); err != nil {
				t.Fatal(err)
			}
			expectFiles(t, directory, map[string]string{"tls.crt": "certificate", "tls.key": "key"})
		})
	}
}

func TestFailuresOfTheCertificateFilesAreReturned(t *testing.T) {
	unreachable := errors.New("the API server cannot be reached")
	failing := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return unreachable
		},
	})
	if err := writeFiles(t, t.TempDir(), failing); !errors.Is(err, unreachable) {
		t.Errorf("a Secret that cannot be read gave %v, want %v", err, unreachable)
	}

	occupied := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(occupied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full := fake.NewClientBuilder().WithObjects(certificateSecret("certificate", "key")).Build()
	if err := writeFiles(t, occupied, full); err == nil {
		t.Error("a directory that cannot be made gave no error")
	}
}
