package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Config says how a container of the image runs.
type Config struct {
	Entrypoint []string `json:",omitempty"`
	Env        []string `json:",omitempty"`
}

// Write makes an image of one layer and writes it to a file. The file is there only when it is complete.
func Write(file, name string, config Config, fill func(*Layer) error) error {
	scratch, err := os.MkdirTemp(filepath.Dir(file), ".image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	layer := filepath.Join(scratch, "layer.tar")
	digest, err := writeLayer(layer, fill)
	if err != nil {
		return fmt.Errorf("image %s: %w", name, err)
	}
	archive := filepath.Join(scratch, "image.tar")
	if err := writeArchive(archive, name, config, layer, digest); err != nil {
		return fmt.Errorf("image %s: %w", name, err)
	}
	return os.Rename(archive, file)
}

// writeLayer writes the layer to a file and returns its SHA-256 in hexadecimal.
func writeLayer(path string, fill func(*Layer) error) (digest string, err error) {
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	layer := NewLayer(io.MultiWriter(file, hash))
	if err := fill(layer); err != nil {
		return "", err
	}
	if err := layer.Close(); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), file.Close()
}

// The two documents of a `docker save` archive.
type (
	manifest struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	description struct {
		Architecture string    `json:"architecture"`
		OS           string    `json:"os"`
		Created      time.Time `json:"created"`
		Config       Config    `json:"config"`
		RootFS       rootFS    `json:"rootfs"`
	}
	rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
)

func writeArchive(path, name string, config Config, layer, digest string) error {
	description, err := json.Marshal(description{
		Architecture: runtime.GOARCH, OS: runtime.GOOS, Created: time.Unix(0, 0).UTC(), Config: config,
		RootFS: rootFS{Type: "layers", DiffIDs: []string{"sha256:" + digest}},
	})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(description)
	configName := hex.EncodeToString(sum[:]) + ".json"
	index, err := json.Marshal([]manifest{{Config: configName, RepoTags: []string{name}, Layers: []string{"layer.tar"}}})
	if err != nil {
		return err
	}

	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	archive := tar.NewWriter(file)
	for _, document := range []struct {
		name    string
		content []byte
	}{{"manifest.json", index}, {configName, description}} {
		if err := addTo(archive, document.name, int64(len(document.content)), bytes.NewReader(document.content)); err != nil {
			return err
		}
	}
	if err := addFileTo(archive, "layer.tar", layer); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return file.Close()
}

func addFileTo(archive *tar.Writer, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return addTo(archive, name, info.Size(), file)
}

func addTo(archive *tar.Writer, name string, size int64, content io.Reader) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, ModTime: time.Unix(0, 0)}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}
