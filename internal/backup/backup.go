// Package backup writes the files of a home into a folder with a manifest, and restores them.
//
// A backup is a folder with a file collie-backup.json, which lists all other files with their sizes and SHA-256 sums,
// and a folder for each [Part]. The caller defines the parts, how to copy a database that is in use, and what to check
// after restoring. The entry points are [Write], [Open] and [Backup.Restore].
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// manifestName is the file that lists the files of a backup. It is written last, so a folder without it is not a
// complete backup.
const manifestName = "collie-backup.json"

const (
	format  = "collie-backup"
	version = 1
	// maxManifest bounds the size of a manifest in bytes.
	maxManifest = 64 << 20
)

// Part is a folder of the home that is backed up.
type Part struct {
	// Name is the folder in the backup, in lower-case letters.
	Name string
	// Dir is the folder to back up. It need not exist. It may be a link, and links in it are followed.
	Dir string
	// Skip reports whether a file or folder below Dir is left out, by its path with slashes; nil leaves out nothing.
	Skip func(at string, dir bool) bool
	// Copies has functions that copy files which cannot be copied directly, such as a database in use, by path. They
	// write to a new file.
	Copies map[string]func(ctx context.Context, to string) error
	// Append reports whether others append lines to a file. An unfinished last line is then left out.
	Append func(at string) bool
}

// File is one file of a backup.
type File struct {
	// Path is the path in the backup, with slashes: the name of the part first.
	Path   string      `json:"path"`
	Size   int64       `json:"size"`
	SHA256 string      `json:"sha256"`
	Mode   fs.FileMode `json:"mode"`
}

// Manifest describes a backup.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Made is when the backup was started, Collie the version of the program.
	Made   time.Time `json:"made"`
	Collie string    `json:"collie"`
	// Secrets reports whether secrets and sign-ins are included.
	Secrets bool   `json:"secrets"`
	Files   []File `json:"files"`
	// Unfollowed are links to folders that were not followed, because they lie behind too many others. They are written as in
	// Files.
	Unfollowed []string `json:"unfollowed,omitempty"`
}

// Size returns the bytes of all files.
func (m *Manifest) Size() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// Errors of backups.
var (
	// ErrNotEmpty means that the target folder is not empty.
	ErrNotEmpty = errors.New("the folder is not empty")
	// ErrNone means that the folder is not a backup or is incomplete.
	ErrNone = errors.New("the folder is not a backup, or its writing was interrupted")
	// ErrDamaged means that the files do not match the manifest.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrNewer means that the backup has a newer format.
	ErrNewer = errors.New("the backup was made by a newer Collie")
)

// Write writes a backup of parts into dir, which must be empty or missing. m has the caller's fields of the manifest;
// Write fills in the others. After an error dir has no manifest.
func Write(ctx context.Context, dir string, parts []Part, m Manifest) (Manifest, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return m, err
	}
	if entries, err := os.ReadDir(dir); err != nil {
		return m, err
	} else if len(entries) > 0 {
		return m, ErrNotEmpty
	}
	m.Format, m.Version, m.Files = format, version, []File{}
	for _, p := range parts {
		if err := writePart(ctx, dir, p, &m); err != nil {
			return m, err
		}
	}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	return m, writeSynced(filepath.Join(dir, manifestName), append(data, '\n'))
}

// writeSynced writes a new file and syncs it to disk before it gets its name.
func writeSynced(at string, data []byte) error {
	f, err := os.OpenFile(at+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(at+".part", at)
	}
	return err
}

func writePart(ctx context.Context, dir string, p Part, m *Manifest) error {
	root, err := filepath.EvalSymlinks(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	own, err := os.Stat(dir)
	if err != nil {
		return err
	}
	w := &partWriter{ctx: ctx, dir: dir, own: own, part: p, manifest: m, walked: map[string]bool{root: true}}
	return w.folder(root, "")
}

// partWriter writes a part of a backup.
type partWriter struct {
	ctx      context.Context
	dir      string      // of the backup
	own      os.FileInfo // of dir, which a link may lead to: a backup must not copy itself
	part     Part
	manifest *Manifest
	walked   map[string]bool // the folders that are being copied: a link to one of them would never end
}

// folder copies what lies in a folder. at is its path in the part.
func (w *partWriter) folder(root, at string) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since it was listed
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil || rel == "." {
			return err
		}
		at := path.Join(at, filepath.ToSlash(rel))
		if d.Type()&fs.ModeSymlink != 0 {
			return w.link(file, at)
		}
		switch {
		case w.skips(at, d.IsDir()), d.IsDir() && w.isOwn(d):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		return w.file(file, at)
	})
}

// link copies what a link leads to, as programs do that keep settings in one folder and link to them. One that leads nowhere is left out.
func (w *partWriter) link(file, at string) error {
	to, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case w.skips(at, info.IsDir()):
		return nil
	case info.IsDir():
		return w.linkedFolder(to, at)
	case info.Mode().IsRegular():
		return w.file(to, at)
	}
	return nil
}

// maxNested bounds links to folders inside of linked folders: of many that lead to each other each order would be copied.
const maxNested = 4

// linkedFolder copies a folder that a link leads to, unless that is nested too deeply.
func (w *partWriter) linkedFolder(to, at string) error {
	if w.walked[to] { // what it has is being copied
		return nil
	}
	if len(w.walked) > maxNested {
		w.manifest.Unfollowed = append(w.manifest.Unfollowed, path.Join(w.part.Name, at))
		return nil
	}
	w.walked[to] = true
	defer delete(w.walked, to)
	return w.folder(to, at)
}

func (w *partWriter) isOwn(d fs.DirEntry) bool {
	info, err := d.Info()
	return err == nil && os.SameFile(info, w.own)
}

func (w *partWriter) skips(at string, isDir bool) bool {
	return w.part.Skip != nil && w.part.Skip(at, isDir)
}

// file copies a file.
func (w *partWriter) file(file, at string) error {
	to := filepath.Join(w.dir, w.part.Name, filepath.FromSlash(at))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	var err error
	if copyTo := w.part.Copies[at]; copyTo != nil {
		err = copyTo(w.ctx, to)
	} else {
		if info, err := os.Stat(file); err == nil {
			mode = info.Mode().Perm()
		}
		err = copyFile(w.ctx, file, to, w.part.Append != nil && w.part.Append(at))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", file, err)
	}
	f, err := sizeAndSum(to)
	f.Path, f.Mode = path.Join(w.part.Name, at), mode
	w.manifest.Files = append(w.manifest.Files, f)
	return err
}

// copyFile copies a file to a new one and syncs it to disk. wholeLines leaves out an unfinished last line.
func copyFile(ctx context.Context, from, to string, wholeLines bool) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(dst, contextReader{ctx, src})
	if err == nil && wholeLines {
		err = cutLine(dst, n)
	}
	return errors.Join(err, dst.Sync(), dst.Close())
}

// cutLine removes an unfinished last line from a file of n bytes.
func cutLine(f *os.File, n int64) error {
	buf := make([]byte, 4096)
	for end := n; end > 0; {
		from := max(0, end-int64(len(buf)))
		part := buf[:end-from]
		if _, err := f.ReadAt(part, from); err != nil {
			return err
		}
		if i := strings.LastIndexByte(string(part), '\n'); i >= 0 {
			return f.Truncate(from + int64(i) + 1)
		}
		end = from
	}
	return f.Truncate(0)
}

// contextReader reads until ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// sizeAndSum returns the size and sum of a file.
func sizeAndSum(at string) (File, error) {
	f, err := os.Open(at)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return File{Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// Backup is a verified backup.
type Backup struct {
	Manifest
	dir string
}

// Open opens a backup and verifies every file. progress, if not nil, is called after each file.
func Open(ctx context.Context, dir string, progress func(done, total int, name string)) (*Backup, error) {
	info, err := os.Lstat(filepath.Join(dir, manifestName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNone
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxManifest:
		return nil, ErrNone
	}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	b := &Backup{dir: dir}
	if err := json.Unmarshal(data, &b.Manifest); err != nil || b.Format != format {
		return nil, ErrNone
	}
	if b.Version > version {
		return nil, ErrNewer
	}
	seen := map[string]bool{}
	for i, f := range b.Files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !fs.ValidPath(f.Path) || !strings.Contains(f.Path, "/") || strings.ContainsAny(f.Path, `\:`) || seen[f.Path] {
			return nil, fmt.Errorf("%w: %q is not a path in a backup", ErrDamaged, f.Path)
		}
		seen[f.Path] = true
		at := filepath.Join(dir, filepath.FromSlash(f.Path))
		if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, f.Path)
		}
		got, err := sizeAndSum(at)
		if err != nil {
			return nil, err
		}
		if got.Size != f.Size || got.SHA256 != f.SHA256 {
			return nil, fmt.Errorf("%w: %s is not what it was", ErrDamaged, f.Path)
		}
		if progress != nil {
			progress(i+1, len(b.Files), f.Path)
		}
	}
	return b, nil
}

// File returns the path of a file in the backup, "" if it does not exist.
func (b *Backup) File(at string) string {
	if slices.ContainsFunc(b.Files, func(f File) bool { return f.Path == at }) {
		return filepath.Join(b.dir, filepath.FromSlash(at))
	}
	return ""
}

// Restore copies the files of a part into a folder, except those for which skip returns true. It fails if a file exists;
// files copied before stay.
func (b *Backup) Restore(ctx context.Context, part, dir string, skip func(at string) bool) (n int, err error) {
	for _, f := range b.Files {
		at, found := strings.CutPrefix(f.Path, part+"/")
		if !found || skip != nil && skip(at) {
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return n, err
		}
		if err := copyFile(ctx, filepath.Join(b.dir, filepath.FromSlash(f.Path)), to, false); err != nil {
			return n, err
		}
		if err := os.Chmod(to, f.Mode.Perm()&0o700|0o600); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
