package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAPackageIsUnpackedIntoAMergedUsr(t *testing.T) {
	var output bytes.Buffer
	layer := NewLayer(&output)
	if err := layer.MergeUsr(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		// Two packages may have folders in common.
		if err := layer.AddPackage(tarball(t, tar.Header{Typeflag: tar.TypeDir, Name: "./"}, tar.Header{Typeflag: tar.TypeDir, Name: "./lib/"})); err != nil {
			t.Fatal(err)
		}
	}
	err := layer.AddPackage(tarball(t,
		tar.Header{Typeflag: tar.TypeReg, Name: "./lib/libc.so.6", Uid: 7},
		tar.Header{Typeflag: tar.TypeLink, Name: "./usr/lib/libc.so", Linkname: "./lib/libc.so.6"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "./sbin/rndc", Linkname: "../usr/bin/rndc"},
		tar.Header{Typeflag: tar.TypeReg, Name: "./usr/share/doc/libc6/copyright"},
		tar.Header{Typeflag: tar.TypeReg, Name: "./etc/services"},
	))
	if err != nil {
		t.Fatal(err)
	}
	if err := layer.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"bin -> usr/bin", "lib -> usr/lib", "lib64 -> usr/lib64", "sbin -> usr/sbin", "usr/lib",
		"usr/lib/libc.so.6", "usr/lib/libc.so -> usr/lib/libc.so.6", "usr/sbin/rndc -> ../usr/bin/rndc", "etc/services",
	}
	if diff := cmp.Diff(want, list(t, &output)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestATreeKeepsItsTimesAndLinks(t *testing.T) {
	dir := t.TempDir()
	compiled := time.Unix(1_600_000_000, 5)
	for _, name := range []string{"usr/lib", "usr/share/doc/python3"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	module := filepath.Join(dir, "usr", "lib", "module.py")
	for _, name := range []string{module, filepath.Join(dir, "usr", "share", "doc", "python3", "copyright")} {
		if err := os.WriteFile(name, []byte("code"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("usr/lib", filepath.Join(dir, "lib")), os.Chtimes(module, compiled, compiled)); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	layer := NewLayer(&output)
	if err := errors.Join(layer.AddTree("", dir), layer.AddTree("copy", filepath.Join(dir, "usr", "lib")), layer.Close()); err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(bytes.NewReader(output.Bytes())); ; {
		header, err := reader.Next()
		if err != nil {
			t.Fatalf("the module is not there: %v", err)
		}
		if header.Name == "usr/lib/module.py" {
			if header.ModTime.Unix() != compiled.Unix() || header.Size != 4 {
				t.Errorf("the module is %d bytes of %s", header.Size, header.ModTime)
			}
			break
		}
	}
	want := []string{"lib -> usr/lib", "usr", "usr/lib", "usr/lib/module.py", "usr/share", "copy", "copy/module.py"}
	if diff := cmp.Diff(want, list(t, &output)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestATreeHoldsNoSockets(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := NewLayer(io.Discard).AddTree("", dir); err == nil {
		t.Error("no error")
	}
}

func TestAFileCannotBeThereTwice(t *testing.T) {
	layer := NewLayer(io.Discard)
	if err := layer.AddLink("bin/sh", "busybox"); err != nil {
		t.Fatal(err)
	}
	if err := layer.AddLink("bin/sh", "dash"); err == nil {
		t.Error("no error")
	}
}

func TestAnImageIsMadeOfItsLayerAndConfiguration(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("code"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "image.tar")
	err := Write(file, "localhost/thing:1", Config{Entrypoint: []string{"/thing"}}, func(layer *Layer) error {
		return layer.AddProgram("thing", program)
	})
	if err != nil {
		t.Fatal(err)
	}

	parts := contents(t, file)
	var index []manifest
	decode(t, parts["manifest.json"], &index)
	if len(index) != 1 || index[0].RepoTags[0] != "localhost/thing:1" || len(index[0].Layers) != 1 {
		t.Fatalf("the manifest is %+v", index)
	}
	layer := parts[index[0].Layers[0]]
	var config description
	decode(t, parts[index[0].Config], &config)
	sum := sha256.Sum256(layer)
	if diff := cmp.Diff([]string{"sha256:" + hex.EncodeToString(sum[:])}, config.RootFS.DiffIDs); diff != "" {
		t.Errorf("the layer is not the one that the configuration names, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/thing"}, config.Config.Entrypoint); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"thing"}, list(t, bytes.NewReader(layer))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnImageThatFailsLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	err := Write(filepath.Join(dir, "image.tar"), "localhost/thing:1", Config{}, func(*Layer) error { return errors.New("no space left") })
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Fatalf("got %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("there is %v (%v)", entries, err)
	}
}

func tarball(t *testing.T, headers ...tar.Header) io.Reader {
	t.Helper()
	var output bytes.Buffer
	writer := tar.NewWriter(&output)
	for _, header := range headers {
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return &output
}

// list is what a tar stream holds, all of which must belong to root.
func list(t *testing.T, r io.Reader) []string {
	t.Helper()
	var names []string
	for reader := tar.NewReader(r); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 {
			t.Errorf("%s belongs to %d", header.Name, header.Uid)
		}
		name := header.Name
		if header.Linkname != "" {
			name += " -> " + header.Linkname
		}
		names = append(names, name)
	}
}

func contents(t *testing.T, path string) map[string][]byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parts := map[string][]byte{}
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		if parts[header.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
	}
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
