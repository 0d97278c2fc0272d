// Package image makes container images without a container engine: a tar file each, as `docker save` writes them, with
// one layer.
package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Layer is the file system of an image in the making.
type Layer struct {
	tar   *tar.Writer
	files map[string]bool
}

// mergedFolders live under usr in Debian, with symbolic links in their old places. Packages still use both names.
var mergedFolders = []string{"bin", "lib", "lib64", "sbin"}

// unneeded are folders of packages that no program needs.
var unneeded = []string{"usr/share/doc/", "usr/share/man/", "usr/share/locale/", "usr/share/lintian/", "usr/share/bug/"}

// NewLayer begins a layer, which is written to w as it grows.
func NewLayer(w io.Writer) *Layer {
	return &Layer{tar: tar.NewWriter(w), files: map[string]bool{}}
}

// AddProgram adds a program of this machine.
func (l *Layer) AddProgram(name, from string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return l.add(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: info.Size()}, file)
}

// AddLink adds a symbolic link.
func (l *Layer) AddLink(name, target string) error {
	return l.add(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777}, nil)
}

// MergeUsr adds the symbolic links of Debian's merged /usr. It comes before any package.
func (l *Layer) MergeUsr() error {
	for _, name := range mergedFolders {
		if err := l.AddLink(name, "usr/"+name); err != nil {
			return err
		}
	}
	return nil
}

// AddPackage adds the files of a Debian package, from a tar stream. Everything in it belongs to root.
func (l *Layer) AddPackage(tarball io.Reader) error {
	reader := tar.NewReader(tarball)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := merged(header.Name)
		if name == "" || isUnneeded(name) || l.files[name] && header.Typeflag == tar.TypeDir {
			continue
		}
		entry := &tar.Header{
			Typeflag: header.Typeflag, Name: name, Linkname: header.Linkname, Mode: header.Mode, Size: header.Size,
		}
		if header.Typeflag == tar.TypeLink {
			entry.Linkname = merged(header.Linkname)
		}
		if err := l.add(entry, reader); err != nil {
			return err
		}
	}
}

// AddTree adds the folder of a root file system, without what no program needs. Everything in it belongs to root. Files
// keep their times, for Python compares them with those that it noted when it compiled.
func (l *Layer) AddTree(name, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return l.addFrom(root, file, path.Join(name, file))
	})
}

// addFrom adds one file, folder or symbolic link.
func (l *Layer) addFrom(root *os.Root, file, name string) error {
	if name == "." || isUnneeded(name) {
		return nil
	}
	info, err := root.Lstat(file)
	if err != nil {
		return err
	}
	entry := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime().Truncate(time.Second)}
	switch {
	case info.IsDir():
		entry.Typeflag, entry.ModTime = tar.TypeDir, time.Time{}
		return l.add(entry, nil)
	case info.Mode().Type() == fs.ModeSymlink:
		entry.Typeflag = tar.TypeSymlink
		if entry.Linkname, err = root.Readlink(file); err != nil {
			return err
		}
		return l.add(entry, nil)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is %s, which is not for an image", name, info.Mode().Type())
	}
	content, err := root.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	entry.Size = info.Size()
	return l.add(entry, content)
}

// Close ends the layer.
func (l *Layer) Close() error { return l.tar.Close() }

func (l *Layer) add(header *tar.Header, content io.Reader) error {
	if l.files[header.Name] {
		return fmt.Errorf("%s would be there twice", header.Name)
	}
	l.files[header.Name] = true
	if header.ModTime.IsZero() {
		header.ModTime = time.Unix(0, 0)
	}
	if err := l.tar.WriteHeader(header); err != nil {
		return err
	}
	if header.Typeflag != tar.TypeReg {
		return nil
	}
	_, err := io.Copy(l.tar, content)
	return err
}

// merged is where a file of a package is in a file system whose /usr is merged. For the root folder it is empty.
func merged(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains(mergedFolders, first) {
		return "usr/" + name
	}
	return name
}

func isUnneeded(name string) bool {
	for _, prefix := range unneeded {
		if strings.HasPrefix(name+"/", prefix) {
			return true
		}
	}
	return false
}
