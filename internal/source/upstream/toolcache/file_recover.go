package toolcache

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"collie/internal/atomicfile"
)

// The files beside the cache file.
const (
	backupSuffix  = ".bak"
	corruptSuffix = ".corrupt-"
	corruptKept   = 3
	backupEvery   = 24 * time.Hour
)

// recover keeps a broken file aside and takes the last good one in its place. It returns
// no error: a start goes on without a cache.
func (f *File) recover(bad Finding) error {
	aside, healed := f.quarantine()
	if healed {
		return nil
	}
	doc := f.lastGood()
	f.take(doc, nil, stamp{})
	servers := 0
	if doc != nil {
		servers = len(doc.entries)
	}
	f.opts.Logger.Warn("the tool cache cannot be read; it is kept aside, and its last good copy is used if there is one",
		"error", f.corrupt(bad), "copy", aside, "servers", servers)
	return nil
}

// quarantine renames the broken file and returns its new name, empty if it has to stay. Whoever
// has the lock looks again, since another process may have put a good file in its place.
func (f *File) quarantine() (aside string, healed bool) {
	if f.permitted() != nil {
		return "", false
	}
	unlock, err := f.lock(f.closed)
	if err != nil {
		return "", false
	}
	defer unlock()
	_, _, bad, err := f.read()
	if err != nil || bad == nil {
		return "", err == nil
	}
	return f.setAside(), false
}

// setAside renames the file and removes the oldest of those that were set aside before.
func (f *File) setAside() (name string) {
	name = f.target + corruptSuffix + f.opts.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Rename(f.target, name); err != nil {
		return ""
	}
	old, err := filepath.Glob(escapeGlob(f.target+corruptSuffix) + "*")
	if err == nil && len(old) > corruptKept {
		slices.Sort(old)
		for _, name := range old[:len(old)-corruptKept] {
			_ = os.Remove(name) // one copy too many does no harm
		}
	}
	return name
}

// escapeGlob makes a name a pattern of itself.
func escapeGlob(name string) string {
	var out []byte
	for i := range len(name) {
		if c := name[i]; os.PathSeparator != '\\' && (c == '*' || c == '?' || c == '[' || c == '\\') {
			out = append(out, '\\')
		}
		out = append(out, name[i])
	}
	return string(out)
}

// lastGood reads the copy of the last file that loaded cleanly.
func (f *File) lastGood() *document {
	info, err := os.Stat(f.target + backupSuffix)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	data, err := os.ReadFile(f.target + backupSuffix)
	if err != nil {
		return nil
	}
	var findings []Finding
	doc, err := readDocument(data, f.opts.Zone, reporter{list: &findings})
	if _, bad := firstError(findings); bad || err != nil {
		return nil
	}
	return doc
}

// backUp copies a file that loaded cleanly, in the background and at most once a day.
func (f *File) backUp(data []byte) {
	name := f.target + backupSuffix
	if info, err := os.Stat(name); err == nil && f.opts.Now().Sub(info.ModTime()) < backupEvery {
		return
	}
	if !folderWritable(f.target) {
		return
	}
	f.tasks.Go(func() {
		if err := atomicfile.WriteNoSync(name, data, 0o600); err != nil {
			f.opts.Logger.Debug("backup of the tool cache not written", "error", err)
		}
	})
}
