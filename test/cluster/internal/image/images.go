package image

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/designate-pools/designate-pool-operator/test/cluster/internal/tools"
	"github.com/designate-pools/designate-pool-operator/test/internal/debian"
	"github.com/designate-pools/designate-pool-operator/test/internal/folder"
)

// Names of the images. No registry has them, so nothing can be pulled by mistake.
const (
	Pause    = "localhost/pause:1"
	BIND     = "localhost/bind9:9.18"
	Operator = "localhost/designate-pool-operator:e2e"
)

// bindPackages are the programs of the BIND image and all that they depend on, in Debian 12.
var bindPackages = strings.Fields(`
	bind9 bind9-dnsutils bind9-host bind9-libs bind9-utils busybox-static dns-root-data libbsd0 libc6 libcap2
	libcom-err2 libedit2 libfstrm0 libgcc-s1 libgcrypt20 libgpg-error0 libgssapi-krb5-2 libicu72 libidn2-0
	libjemalloc2 libjson-c5 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 liblmdb0 liblz4-1 liblzma5
	libmaxminddb0 libmd0 libnghttp2-14 libprotobuf-c1 libreadline8 libssl3 libstdc++6 libsystemd0 libtinfo6
	libunistring2 libuv1 libxml2 libzstd1 netbase zlib1g`)

// shell are what busybox is called by, for whoever looks into a container.
var shell = []string{"cat", "id", "ls", "sh", "sleep", "touch"}

// layerVersion is to be raised when packages are unpacked in another way.
const layerVersion = "2"

// WriteBIND makes the image of BIND from Debian's packages, unless there is one, and returns its path.
func WriteBIND(ctx context.Context, toolsDir string, apt *debian.APT) (string, error) {
	key := folder.Key(append([]string{layerVersion, runtime.GOARCH}, bindPackages...)...)
	dir := filepath.Join(toolsDir, "bind9-image-"+key)
	err := folder.Make(ctx, dir, "the image of BIND from Debian's packages", apt.Progress, func(ctx context.Context, dir string) error {
		return writeBIND(ctx, dir, apt)
	})
	return filepath.Join(dir, "bind9.tar"), err
}

func writeBIND(ctx context.Context, dir string, apt *debian.APT) error {
	downloads := filepath.Join(dir, "packages")
	if err := os.Mkdir(downloads, 0o755); err != nil {
		return err
	}
	packages, err := apt.Download(ctx, downloads, bindPackages...)
	if err != nil {
		return err
	}
	config := Config{Env: []string{"PATH=/usr/sbin:/usr/bin"}}
	err = Write(filepath.Join(dir, "bind9.tar"), BIND, config, func(layer *Layer) error {
		if err := layer.MergeUsr(); err != nil {
			return err
		}
		for _, file := range packages {
			if err := debian.Unpack(ctx, file, layer.AddPackage); err != nil {
				return err
			}
		}
		for _, name := range shell {
			if err := layer.AddLink("usr/bin/"+name, "busybox"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(downloads)
}

// WriteGo builds a program of this repository and makes an image with nothing else in it. It returns its path.
func WriteGo(ctx context.Context, root, dir, name, pkg, program string) (file string, err error) {
	scratch, err := os.MkdirTemp(dir, ".program-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	binary := filepath.Join(scratch, program)
	if err := tools.GoBuild(ctx, root, binary, pkg); err != nil {
		return "", err
	}
	file = filepath.Join(dir, program+".tar")
	config := Config{Entrypoint: []string{"/" + program}}
	return file, Write(file, name, config, func(layer *Layer) error { return layer.AddProgram(program, binary) })
}
