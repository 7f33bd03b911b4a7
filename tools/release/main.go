// Command release writes what people install into a folder: for each platform an archive and a bill of materials, for Linux
// also .deb and .rpm packages, and for all together checksums, an installer, a Containerfile, a formula for Homebrew and a
// manifest for Scoop. The same commit makes the same bytes.
//
//	go -C tools/release run . -root ../.. -version v1.2.3 -epoch 1700000000 -platforms linux/amd64 -- FLAGS OF go build
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// release is one run.
type release struct {
	root, out string // absolute
	version   string // as the program says it, such as v1.2.3
	number    string // as package managers want it, such as 1.2.3
	url       string // where the files will lie; empty if that is not known yet
	mtime     time.Time
	flags     []string // of go build
	stage     string   // a folder for what is packed
	sums      map[string]string
}

func main() {
	r := release{sums: map[string]string{}}
	flag.StringVar(&r.root, "root", ".", "the folder of the source")
	flag.StringVar(&r.out, "out", "dist", "the folder to write to, below root")
	flag.StringVar(&r.version, "version", "dev", "the version")
	flag.StringVar(&r.url, "url", "", "the address of the folder that the files will lie in")
	epoch := flag.Int64("epoch", 0, "the time of all files, in seconds since 1970")
	platforms := flag.String("platforms", runtime.GOOS+"/"+runtime.GOARCH, "what to build for, separated by spaces")
	flag.Parse()
	r.flags, r.mtime = flag.Args(), time.Unix(*epoch, 0).UTC()
	if err := r.run(strings.Fields(*platforms)); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run writes a whole release for these platforms, each written as GOOS/GOARCH.
func (r *release) run(platforms []string) (err error) {
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if !filepath.IsAbs(r.out) {
		r.out = filepath.Join(r.root, r.out)
	}
	r.number = number(r.version, r.mtime)
	if r.stage, err = os.MkdirTemp("", "collie-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.stage)
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := r.shared(); err != nil {
		return err
	}
	for _, p := range platforms {
		goos, goarch, _ := strings.Cut(p, "/")
		begun := time.Now()
		if err := r.platform(goos, goarch); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Fprintf(os.Stderr, "%-14s %s\n", p, time.Since(begun).Round(time.Second))
	}
	for name, write := range map[string]func() (string, error){
		"install.sh": r.installer, "collie.rb": r.formula, "collie.json": r.manifest, "Containerfile": r.container,
	} {
		text, err := write()
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if err := r.write(name, []byte(text)); err != nil {
			return err
		}
	}
	var sums strings.Builder
	for _, name := range sorted(r.sums) {
		fmt.Fprintf(&sums, "%s  %s\n", r.sums[name], name)
	}
	return os.WriteFile(filepath.Join(r.out, "checksums.txt"), []byte(sums.String()), 0o644)
}

// number converts a version of git describe to one that dpkg and rpm sort correctly: v1.2.3 becomes 1.2.3, and v1.2.3-4-gabc
// becomes 1.2.3+4.gabc. A commit without a tag before it, such as abc, becomes 0.0.0+20260102030405.abc with the time at,
// because hashes alone do not say which commit is newer.
func number(version string, at time.Time) string {
	n := strings.TrimPrefix(version, "v")
	base, rest, more := strings.Cut(n, "-")
	if strings.Count(base, ".") != 2 || strings.Trim(base, "0123456789.") != "" {
		return "0.0.0+" + at.UTC().Format("20060102150405") + "." + strings.ReplaceAll(n, "-", ".")
	}
	if more {
		return base + "+" + strings.ReplaceAll(rest, "-", ".")
	}
	return base
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// command runs a program in the source folder, with variables added.
func (r *release) command(env []string, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = r.root, append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false"), env...)
	var problem bytes.Buffer
	c.Stderr = &problem
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, problem.String())
	}
	return out, nil
}

// build builds the program for a platform into the file to.
func (r *release) build(goos, goarch, to string) error {
	args := append([]string{"build", "-trimpath"}, r.flags...)
	args = append(args, "-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", to, "./cmd/collie")
	_, err := r.command([]string{"GOOS=" + goos, "GOARCH=" + goarch}, "go", args...)
	return err
}

// shared makes what all platforms have: documents, manual pages, completions and licences.
func (r *release) shared() error {
	here := filepath.Join(r.stage, "here")
	if err := r.build(runtime.GOOS, runtime.GOARCH, here); err != nil {
		return err
	}
	if _, err := r.command(nil, "go", "run", "./test/man", "-version", r.version, "-epoch", fmt.Sprint(r.mtime.Unix()), filepath.Join(r.stage, "man")); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "collie.bash", "zsh": "_collie", "fish": "collie.fish", "powershell": "collie.ps1"} {
		text, err := r.command([]string{"LC_ALL=C", "COLLIE_HOME=" + r.stage}, here, "completion", shell)
		if err != nil {
			return err
		}
		if err := r.put("completions/"+name, text); err != nil {
			return err
		}
	}
	for _, name := range []string{"README.md", "README.zh-CN.md", "CHANGELOG.md", "LICENSE"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		if err := r.put(name, text); err != nil {
			return err
		}
	}
	text, err := r.licences()
	if err != nil {
		return err
	}
	return r.put("LICENSES.txt", text)
}

// put writes a file into the stage.
func (r *release) put(name string, text []byte) error {
	file := filepath.Join(r.stage, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// write writes a file into the release and counts its sum.
func (r *release) write(name string, data []byte) error {
	sum := sha256.Sum256(data)
	r.sums[name] = hex.EncodeToString(sum[:])
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// platform builds for one platform and packs it.
func (r *release) platform(goos, goarch string) error {
	program := "collie"
	if goos == "windows" {
		program += ".exe"
	}
	binary := filepath.Join(r.stage, goos+"-"+goarch, program)
	if err := r.build(goos, goarch, binary); err != nil {
		return err
	}
	base := fmt.Sprintf("collie_%s_%s_%s", r.number, goos, goarch)
	bill, err := r.bill(binary, goos+"/"+goarch)
	if err != nil {
		return err
	}
	if err := r.write(base+".cdx.json", bill); err != nil {
		return err
	}
	files := map[string]string{program: binary} // in the archive → on disk
	for _, name := range []string{"README.md", "README.zh-CN.md", "CHANGELOG.md", "LICENSE", "LICENSES.txt"} {
		files[name] = filepath.Join(r.stage, name)
	}
	for _, folder := range []string{"completions", "man"} {
		entries, err := os.ReadDir(filepath.Join(r.stage, folder))
		if err != nil {
			return err
		}
		for _, e := range entries {
			files[path.Join(folder, e.Name())] = filepath.Join(r.stage, folder, e.Name())
		}
	}
	if goos == "windows" {
		err = r.zip(base+".zip", files)
	} else {
		err = r.tar(base+".tar.gz", files, program)
	}
	if err != nil || goos != "linux" {
		return err
	}
	return r.packages(goarch, binary)
}

// tar writes a .tar.gz with files, a map from paths in the archive to paths on disk. Only program is executable.
func (r *release) tar(name string, files map[string]string, program string) error {
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	for _, inside := range sorted(files) {
		data, err := os.ReadFile(files[inside])
		if err != nil {
			return err
		}
		h := &tar.Header{Name: inside, Mode: 0o644, Size: int64(len(data)), ModTime: r.mtime, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if inside == program {
			h.Mode = 0o755
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if _, err := tw.Write(data); err != nil {
			return err
		}
	}
	if err := tw.Close(); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	return r.write(name, out.Bytes())
}

// zip writes a .zip with files, a map from paths in the archive to paths on disk.
func (r *release) zip(name string, files map[string]string) error {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, inside := range sorted(files) {
		data, err := os.Open(files[inside])
		if err != nil {
			return err
		}
		w, err := zw.CreateHeader(&zip.FileHeader{Name: inside, Method: zip.Deflate, Modified: r.mtime})
		if err == nil {
			_, err = io.Copy(w, data)
		}
		if err := firstOf(err, data.Close()); err != nil {
			return err
		}
	}
	if err := zw.Close(); err != nil {
		return err
	}
	return r.write(name, out.Bytes())
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
