package file

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// entry is a file or folder as a client sees it.
type entry struct {
	dir     bool
	changed time.Time
	// data returns the content of a file.
	data func() []byte
	// note means that the entry represents notes, or exists in every workspace: it cannot be
	// written.
	note bool
}

// standardFolders are the folders that every workspace has.
var standardFolders = []string{
	"/", "/conf", "/conf/appearance", "/data", "/data/.siyuan", "/data/assets", "/data/emojis", "/data/plugins",
	"/data/public", "/data/storage", "/data/templates", "/data/widgets", "/history", "/temp",
}

// lockFile marks the folder of a workspace.
const lockFile = "/.lock"

// lookup returns the entry at a confined path, nil if there is none.
func lookup(tx *workspace.Tx, p string) *entry {
	if !readable(p) {
		return nil
	}
	if e := lookupNote(tx, p); e != nil {
		return e
	}
	f := tx.Stat(p)
	switch {
	case slices.Contains(standardFolders, p):
		e := &entry{dir: true, note: true}
		if f != nil {
			e.changed = f.Changed
		}
		return e
	case f != nil:
		return storedEntry(tx, *f)
	case p == lockFile:
		return &entry{note: true, data: func() []byte { return []byte{} }}
	}
	return nil
}

func storedEntry(tx *workspace.Tx, f workspace.File) *entry {
	return &entry{dir: f.Dir, changed: f.Changed, data: func() []byte { return tx.ReadFile(f.Path) }}
}

// entries returns the entries directly in a folder, by name.
func entries(tx *workspace.Tx, dir string) map[string]*entry {
	byName := map[string]*entry{}
	for _, f := range tx.Files(dir) {
		byName[path.Base(f.Path)] = storedEntry(tx, f)
	}
	for _, p := range append(standardFolders[1:len(standardFolders):len(standardFolders)], lockFile) {
		if path.Dir(p) == dir {
			byName[path.Base(p)] = lookup(tx, p)
		}
	}
	maps.Copy(byName, noteEntries(tx, dir))
	return byName
}

// blockingFile returns the file that is where a path needs a folder, "" if there is none.
func blockingFile(tx *workspace.Tx, p string) string {
	for up := path.Dir(p); up != "/"; up = path.Dir(up) {
		if e := lookup(tx, up); e != nil {
			if e.dir {
				return ""
			}
			return up
		}
	}
	return ""
}

// splitNote splits a path in /data into the id of a notebook and the rest, which is "" or begins with a slash.
func splitNote(p string) (box, rest string, ok bool) {
	box, inData := strings.CutPrefix(p, "/data/")
	if at := strings.IndexByte(box, '/'); at >= 0 {
		box, rest = box[:at], box[at:]
	}
	return box, rest, inData && tree.ValidID(box)
}
