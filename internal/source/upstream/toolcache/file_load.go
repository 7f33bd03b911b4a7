package toolcache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"collie/internal/atomicfile"
)

// This file reads the cache file, unless it is unchanged.

// stamp identifies a version of the file without reading all of it.
type stamp struct {
	info fs.FileInfo // nil if there is no file
	head []byte      // the first bytes, which contain the generation
}

const headSize = 512

func (s stamp) equal(t stamp) bool {
	if s.info == nil || t.info == nil {
		return s.info == nil && t.info == nil
	}
	return os.SameFile(s.info, t.info) && s.info.Size() == t.info.Size() &&
		s.info.ModTime().Equal(t.info.ModTime()) && bytes.Equal(s.head, t.head)
}

// currentStamp returns the stamp of the file as it is now.
func (f *file) currentStamp() (stamp, error) {
	file, err := f.open()
	if file == nil {
		return stamp{}, err
	}
	defer file.Close()
	return stampOf(file)
}

func stampOf(file *os.File) (stamp, error) {
	info, err := file.Stat()
	if err != nil {
		return stamp{}, err
	}
	head := make([]byte, headSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return stamp{}, err
	}
	return stamp{info, head[:n]}, nil
}

// open opens the file; nil without an error means that there is none.
func (f *file) open() (*os.File, error) {
	info, err := os.Stat(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		return nil, newCaused(causeNoFile, "read tool cache", f.path, "it is not a regular file", "", nil)
	}
	file, err := os.Open(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return file, err
}

// load updates doc from the file.
func (f *file) load() error {
	first := !f.began
	if first {
		if _, err := atomicfile.RemoveLeftovers(f.target, time.Minute); err != nil {
			f.opts.Logger.Debug("leftover files not removed", "error", err)
		}
	}
	data, err := f.refresh(func(bad Finding) error {
		if first {
			f.restoreBackup(bad)
			return nil
		}
		return f.corruptError(bad) // being written or broken by somebody: doc stays
	})
	if first && data != nil && len(f.doc.entries) > 0 && f.doc.from == f.doc.version {
		f.backUp(data)
	}
	return err
}

// refresh reads the file again if it is not the known version, and returns its text. The generation alone is not
// enough, since people edit files. broken handles a broken file.
func (f *file) refresh(broken func(Finding) error) (data []byte, err error) {
	now, err := f.currentStamp()
	if err != nil {
		return nil, err
	}
	known := f.began
	f.began = true
	switch {
	case known && now.equal(f.stamp):
		return nil, nil
	case now.info == nil:
		f.adopt(nil, nil, now)
		return nil, nil
	}
	data, bad, err := f.read()
	if bad != nil {
		return nil, broken(*bad)
	}
	return data, err
}

// read reads the file into doc. bad says why it is not a cache file.
func (f *file) read() (data []byte, bad *Finding, err error) {
	file, err := f.open()
	if err != nil {
		return nil, nil, err
	}
	if file == nil {
		f.adopt(nil, nil, stamp{})
		return nil, nil, nil
	}
	defer file.Close()
	now, err := stampOf(file)
	if err != nil {
		return nil, nil, err
	}
	if now.info.Size() > maxFile {
		return nil, &Finding{Rule: ruleSize, Severity: severityError, Message: errTooLarge.Error()}, nil
	}
	data = make([]byte, now.info.Size())
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	data = data[:n]
	doc, bad, err := parseUsable(data, time.Local)
	if foreign, ok := errors.AsType[*foreignVersionError](err); ok {
		return nil, nil, newCaused(causeNewer, "read tool cache", f.path, foreign.Error(),
			"the file is left as it is and nothing is kept; use the newer Collie, or another file: COLLIE_CACHE_FILE", nil)
	}
	if bad == nil {
		f.adopt(doc, data, now)
	}
	return data, bad, nil
}

// adopt makes doc the current content of the file.
func (f *file) adopt(doc *document, data []byte, now stamp) {
	f.doc, f.stamp, f.original = doc, now, nil
	info := FileInfo{Path: f.path, Writable: true, Missing: now.info == nil, LockWaits: f.Info().LockWaits}
	if doc != nil {
		if doc.from != doc.version {
			f.original = data
		}
		info.Format, info.Generation, info.Servers = doc.version, doc.generation, len(doc.entries)
		info.Total, info.Writes, info.Created, info.Updated = doc.total, doc.writes, doc.created, doc.updated
	}
	if now.info != nil {
		info.Size, info.Compressed, info.Writable = now.info.Size(), isCompressed(data), isWritable(now.info)
		info.PlainSize = info.Size
		if doc != nil {
			info.PlainSize = int64(doc.plain)
		}
	}
	f.info.Store(&info)
}

// corruptError returns the error for a file that is not a cache.
func (f *file) corruptError(bad Finding) error {
	at := ""
	if bad.Line > 0 {
		at = fmt.Sprintf("line %d column %d: ", bad.Line, bad.Column)
	} else if bad.Pointer != "" {
		at = bad.Pointer + ": "
	}
	return newCaused(causeCorrupt, "read tool cache", f.path, at+bad.Message, "collie cache verify shows everything that is wrong", nil)
}

// Suffixes of the files beside the cache file.
const (
	backupSuffix  = ".bak"
	corruptSuffix = ".corrupt-"
	corruptKept   = 3
	backupEvery   = 24 * time.Hour
)

// restoreBackup puts a broken file aside and restores the last good copy. Without one, a start continues with an empty
// cache.
func (f *file) restoreBackup(bad Finding) {
	aside, healed := f.setAsideLocked()
	if healed {
		return
	}
	doc := f.readBackup()
	f.adopt(doc, nil, stamp{})
	servers := 0
	if doc != nil {
		servers = len(doc.entries)
	}
	f.opts.Logger.Warn("the tool cache cannot be read; it is kept aside, and its last good copy is used if there is one",
		"error", f.corruptError(bad), "copy", aside, "servers", servers)
}

// setAsideLocked renames the broken file and returns its new name, empty if it cannot. It looks again under the lock:
// healed is true if another process has written a good file meanwhile.
func (f *file) setAsideLocked() (aside string, healed bool) {
	if f.checkModes() != nil {
		return "", false
	}
	unlock, err := f.lock(f.closed)
	if err != nil {
		return "", false
	}
	defer unlock()
	_, bad, err := f.read()
	if err != nil || bad == nil {
		return "", err == nil
	}
	return f.setAside(), false
}

// setAside renames the file and deletes the oldest of those that were put aside before.
func (f *file) setAside() (name string) {
	name = f.target + corruptSuffix + f.opts.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Rename(f.target, name); err != nil {
		return ""
	}
	old, err := filepath.Glob(escapeGlob(f.target+corruptSuffix) + "*")
	if err == nil && len(old) > corruptKept {
		slices.Sort(old)
		for _, name := range old[:len(old)-corruptKept] {
			_ = os.Remove(name) // a copy too many does no harm
		}
	}
	return name
}

// escapeGlob returns a glob pattern that matches only name.
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

// readBackup reads the backup of the last file that loaded without problems.
func (f *file) readBackup() *document {
	info, err := os.Stat(f.target + backupSuffix)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	data, err := os.ReadFile(f.target + backupSuffix)
	if err != nil {
		return nil
	}
	doc, bad, err := parseUsable(data, time.Local)
	if err != nil || bad != nil {
		return nil
	}
	return doc
}

// backUp copies a file that loaded without problems, in the background and at most once a day.
func (f *file) backUp(data []byte) {
	name := f.target + backupSuffix
	if info, err := os.Stat(name); err == nil && f.opts.Now().Sub(info.ModTime()) < backupEvery {
		return
	}
	if !isFolderWritable(f.target) {
		return
	}
	f.tasks.Go(func() {
		if err := atomicfile.WriteNoSync(name, data, 0o600); err != nil {
			f.opts.Logger.Debug("backup of the tool cache not written", "error", err)
		}
	})
}
