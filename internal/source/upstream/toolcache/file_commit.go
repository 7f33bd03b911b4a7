package toolcache

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"collie/internal/atomicfile"
)

// This file writes the cache file under its lock, and keeps a copy of one that cannot be used.

// commit writes the file under its lock, with the changes applied to what it contains then.
func (f *file) commit(ctx context.Context, changes []Change) error {
	if err := f.checkModes(); err != nil {
		f.setWritable(false)
		return err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := f.refresh(f.replaceBroken); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	doc := f.doc
	if doc == nil {
		doc = newDocument(f.opts.Now())
	}
	for _, c := range changes {
		if !bytes.Equal(doc.entries[c.Server], c.Old) {
			return ErrConflict
		}
	}
	next := f.apply(doc, changes)
	plain := next.render()
	data, err := compress(plain, f.opts.Compression)
	if err != nil {
		return err
	}
	if err := f.keepOriginal(); err != nil {
		return err
	}
	if err := f.replace(data); err != nil {
		if errors.Is(err, ErrConflict) {
			_, wrong := f.refresh(f.replaceBroken)
			err = cmp.Or(wrong, err)
		}
		return err
	}
	f.adoptWritten(next, plain, data)
	return nil
}

// replaceBroken puts aside a file that broke while we run, and writes what is in memory in its place.
func (f *file) replaceBroken(bad Finding) error {
	aside := f.setAside()
	f.adopt(nil, nil, stamp{})
	f.opts.Logger.Warn("the tool cache was broken; it is kept aside and written anew", "error", f.corruptError(bad), "copy", aside)
	return nil
}

// checkModes checks the modes itself instead of just trying to write: root may write anything, but a chmod 444 is
// meant for root too.
func (f *file) checkModes() error {
	const hint = "chmod u+w it; until then the tool lists are kept in memory"
	if info, err := os.Stat(f.target); err == nil {
		if !info.Mode().IsRegular() {
			return newCaused(causeNoFile, "write tool cache", f.path, "it is not a regular file", "", nil)
		}
		if !isWritable(info) {
			return newCaused(causeReadOnly, "write tool cache", f.path, "the file is read-only", hint, fs.ErrPermission)
		}
	}
	if !isFolderWritable(f.target) {
		return newCaused(causeReadOnly, "write tool cache", f.path, "its folder is read-only", hint, fs.ErrPermission)
	}
	return nil
}

func isWritable(info fs.FileInfo) bool { return info.Mode().Perm()&0o200 != 0 }

// isFolderWritable also returns true for a missing folder, which can be created.
func isFolderWritable(path string) bool {
	info, err := os.Stat(filepath.Dir(path))
	return err != nil || runtime.GOOS == "windows" || isWritable(info)
}

func (f *file) setWritable(ok bool) {
	info := f.Info()
	info.Writable = ok
	f.info.Store(&info)
}

// lock takes the lock beside the file. On a file system without locks, only the check of the generation before the
// rename protects from other writers.
func (f *file) lock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	unlock, free, err := atomicfile.TryLock(f.target + ".lock")
	if err == nil && !free {
		info := f.Info()
		info.LockWaits++
		f.info.Store(&info)
		unlock, err = atomicfile.Lock(ctx, f.target+".lock")
	}
	switch {
	case err == nil:
		f.unlocked = false
		return unlock, nil
	case ctx.Err() != nil:
		return nil, newCaused(causeLocked, "write tool cache", f.path, "another process holds the lock", "", err)
	case errors.Is(err, fs.ErrPermission):
		return nil, err
	}
	f.unlocked = true
	return func() {}, nil
}

// apply returns the next version of the document.
func (f *file) apply(doc *document, changes []Change) *document {
	next := doc.clone()
	for _, c := range changes {
		if c.Entry == nil {
			delete(next.entries, c.Server)
			continue
		}
		next.entries[c.Server] = c.Entry
		next.total++
	}
	next.generation++
	next.writes++
	if now := f.opts.Now(); now.After(next.created) {
		next.updated = now
	} else {
		next.updated = next.created // the clock was set back
	}
	next.from = next.version
	next.writer = encode(struct {
		App        string `json:"app"`
		AppVersion string `json:"appVersion"`
		InstanceID string `json:"instanceId"`
	}{"collie", f.opts.AppVersion, f.opts.instance})
	return next
}

// keepOriginal saves a file of an older format before it is replaced.
func (f *file) keepOriginal() error {
	if f.original == nil {
		return nil
	}
	name := f.target + ".v" + f.doc.from + backupSuffix
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	return atomicfile.Write(name, f.original, 0o600)
}

func (f *file) replace(data []byte) error {
	o := atomicfile.Options{Perm: f.modeToWrite(), KeepOwner: true}
	if f.unlocked {
		o.Before = func() error {
			now, err := f.currentStamp()
			if err == nil && !now.equal(f.stamp) {
				err = ErrConflict
			}
			return err
		}
	}
	return atomicfile.Replace(f.target, data, o)
}

// modeToWrite returns the mode for the file: that of the old one, and never wider than 0600 unless the user asks for it.
func (f *file) modeToWrite() fs.FileMode {
	if f.opts.Mode != 0 {
		return f.opts.Mode.Perm()
	}
	if f.stamp.info != nil {
		return f.stamp.info.Mode().Perm()&0o600 | 0o200
	}
	return 0o600
}

// adoptWritten records what was written.
func (f *file) adoptWritten(next *document, plain, data []byte) {
	now, err := f.currentStamp()
	if err != nil {
		now = stamp{} // forces the next operation to read the file
	}
	next.plain = len(plain)
	f.adopt(next, data, now)
}
