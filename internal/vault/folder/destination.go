package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"collie/internal/vault/tree"
)

// destination is the target folder of an export.
type destination struct {
	root    *os.Root
	earlier map[string]bool // files of the earlier export
	written []string
}

const tempName = ".collie-export.tmp"

// openDestination opens a folder for an export, and creates it if it is missing. It refuses a folder that has anything
// but an earlier export.
func openDestination(dir string, overwrite bool) (*destination, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &destination{root: root, earlier: map[string]bool{}}
	if err := d.check(dir, overwrite); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return d, nil
}

// check returns an error unless the folder is empty or, with overwrite, an earlier export, whose list of files it reads.
func (d *destination) check(dir string, overwrite bool) error {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil || len(entries) == 0 {
		return err
	}
	m, err := readMarker(d.root)
	switch {
	case m == nil:
		return errors.Join(fmt.Errorf("the folder %s is not empty, and no export of Collie: choose another", dir), err)
	case err != nil:
		return err
	case !overwrite:
		return fmt.Errorf("the folder %s holds an earlier export: choose another one", dir)
	}
	for _, at := range m.Files {
		if fs.ValidPath(at) && at != "." && at != MarkerName {
			d.earlier[at] = true
		}
	}
	return nil
}

// write writes a file atomically. It does not touch a file that has the content already.
func (d *destination) write(at string, data []byte) error {
	d.written = append(d.written, at)
	return d.replace(at, data)
}

// replace is like write for a file that is not part of the list in the marker.
func (d *destination) replace(at string, data []byte) error {
	if info, err := d.root.Lstat(at); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		if existing, err := d.root.ReadFile(at); err == nil && bytes.Equal(existing, data) {
			return nil
		}
	}
	if dir := path.Dir(at); dir != "." {
		if err := d.root.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the folder %s: %w", dir, err)
		}
	}
	err := d.root.WriteFile(tempName, data, 0o600)
	if err == nil {
		err = d.root.Rename(tempName, at)
	}
	if err != nil {
		_ = d.root.Remove(tempName) // the first error is returned
		return fmt.Errorf("write %s: %w", at, err)
	}
	return nil
}

// removeStale removes the files of the earlier export that are not in this one, and folders that become empty.
func (d *destination) removeStale(problem func(at string, err error)) {
	current := map[string][]string{} // names that some file systems do not tell apart
	for _, at := range d.written {
		current[foldName(at)] = append(current[foldName(at)], at)
	}
	var removed []string
	for at := range d.earlier {
		if !slices.ContainsFunc(current[foldName(at)], func(name string) bool { return d.isSameFile(name, at) }) {
			removed = append(removed, at)
		}
	}
	slices.Sort(removed)
	for _, at := range removed {
		if err := d.root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problem(at, err)
			continue
		}
		for up := path.Dir(at); up != "."; up = path.Dir(up) {
			if d.root.Remove(up) != nil {
				break // not empty
			}
		}
	}
}

// isSameFile reports whether two paths lead to one file, as "a.md" and "A.md" do on systems that ignore case.
func (d *destination) isSameFile(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := d.root.Lstat(a)
	infoB, errB := d.root.Lstat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// MarkerName is the file at the top of a folder that Export wrote.
const MarkerName = ".collie-export.json"

const (
	markerFormat  = "collie-export"
	markerVersion = 1
	maxMarker     = 64 << 20
)

// Files and folders beside the documents in the folder of a notebook.
const (
	assetsDir    = "assets"
	databasesDir = "databases"
	cardsFile    = "cards.json"
)

// exportMarker is the content of MarkerName.
type exportMarker struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Complete is false while an export runs, and after an interrupted one.
	Complete  bool               `json:"complete"`
	Notebooks []exportedNotebook `json:"notebooks"`
	// Files are the paths of all other files of the export.
	Files []string `json:"files"`
	// Hashes has the hashes of each document and its file at the time of the export, by file.
	Hashes map[string]fileHashes `json:"was,omitempty"`
}

// fileHashes has hashes of a file and of the document that it was written from.
type fileHashes struct {
	File    string `json:"file"`
	Content string `json:"held"`
}

// knownFile returns the record of an exported file, the zero value if there is none.
func (m *exportMarker) knownFile(file string) fileHashes {
	if m == nil {
		return fileHashes{}
	}
	return m.Hashes[file]
}

// exportedNotebook describes a notebook in a marker.
type exportedNotebook struct {
	Folder string    `json:"folder"`
	ID     string    `json:"id"`
	Conf   tree.Conf `json:"conf"`
}

// readMarker reads the marker of a folder, nil if it has none.
func readMarker(root *os.Root) (*exportMarker, error) {
	info, err := root.Lstat(MarkerName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxMarker:
		return nil, fmt.Errorf("%s is not what an export writes", MarkerName)
	}
	data, err := root.ReadFile(MarkerName)
	if err != nil {
		return nil, err
	}
	var m exportMarker
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", MarkerName, err)
	}
	if m.Format != markerFormat {
		return nil, fmt.Errorf("read %s: its format is %q, expected %q", MarkerName, m.Format, markerFormat)
	}
	if m.Version > markerVersion {
		return nil, fmt.Errorf("read %s: it was written by a newer Collie (version %d, this one knows %d): update Collie", MarkerName, m.Version, markerVersion)
	}
	for _, k := range m.Notebooks {
		if k.Folder != path.Base(k.Folder) || !fs.ValidPath(k.Folder) || k.Folder == "." || strings.HasPrefix(k.Folder, ".") {
			return nil, fmt.Errorf("read %s: %q is not a name of a folder", MarkerName, k.Folder)
		}
	}
	return &m, nil
}

func (m *exportMarker) bytes() []byte {
	data, _ := json.MarshalIndent(m, "", "  ") // cannot fail: texts, numbers and flags
	return append(data, '\n')
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen with maps of strings
	}
	return string(data)
}
