package admin

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"collie/internal/vault/workspace"
)

// This file keeps a folder equal to a notebook, by watching both.

// The times of [Follow].
const (
	// quietTime is how long a folder must be unchanged before a sync. If it keeps changing, a sync comes after ten times
	// quietTime anyway.
	quietTime = time.Second
	// pollTime is how often the file of the vault is looked at. If the system cannot report all changes of the folder, the
	// folder is compared at every unheardPolls-th look.
	pollTime     = 2 * time.Second
	unheardPolls = 15
	// wholeTime is how often everything is compared, even without notices of changes.
	wholeTime = 10 * time.Minute
)

// FollowOptions say how [Follow] works.
type FollowOptions struct {
	// Sync makes a folder and its notebook equal. It is called by one goroutine for each folder.
	Sync   func(ctx context.Context, dir string)
	Logger *slog.Logger // nil discards
}

// Follow keeps folders equal with their notebooks until ctx ends: it syncs each at once, and then whenever the folder
// or the file of the vault at path changes. It returns when all syncs have ended.
func Follow(ctx context.Context, path string, dirs []string, o FollowOptions) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var all sync.WaitGroup
	for _, dir := range dirs {
		all.Go(func() { (&follower{vault: path, dir: dir, o: o}).run(ctx) })
	}
	all.Wait()
}

// follower keeps one folder equal with its notebook.
type follower struct {
	vault, dir string
	o          FollowOptions
	notices    *fsnotify.Watcher // nil if the system cannot report changes
	remote     bool              // the system reports only changes made on this machine
}

// run syncs the folder at once, and then after changes of the folder or the vault, until ctx ends.
func (f *follower) run(ctx context.Context) {
	f.watch()
	defer f.close()
	look := time.NewTicker(pollTime)
	defer look.Stop()
	whole := time.NewTicker(wholeTime)
	defer whole.Stop()
	unheard := 0
	quiet, latest := time.NewTimer(0), time.NewTimer(0) // the first sync comes at once
	defer quiet.Stop()
	defer latest.Stop()
	stamp, waiting := "", true
	changed := func() {
		if !waiting {
			waiting = true
			latest.Reset(10 * quietTime)
		}
		quiet.Reset(quietTime)
	}
	syncNow := func() {
		quiet.Stop()
		latest.Stop()
		stamp, waiting, unheard = f.vaultStamp(), false, 0
		f.o.Sync(ctx, f.dir)
		f.watchNew()
	}
	for {
		var events chan fsnotify.Event
		var errs chan error
		if f.notices != nil {
			events, errs = f.notices.Events, f.notices.Errors
		}
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if !isHidden(e.Name) && e.Op != fsnotify.Chmod {
				changed()
			}
		case err := <-errs: // some notices were lost
			f.o.Logger.Debug("notices of changes", "folder", f.dir, "error", err)
			changed()
		case <-look.C:
			unheard++
			if f.vaultStamp() != stamp || (f.notices == nil || f.remote) && unheard >= unheardPolls {
				changed()
				stamp = f.vaultStamp()
			}
		case <-whole.C:
			changed()
		case <-quiet.C:
			syncNow()
		case <-latest.C:
			if waiting {
				syncNow()
			}
		}
	}
}

// isHidden reports whether a file is hidden: its name starts with a dot. A sync ignores hidden
// files.
func isHidden(at string) bool { return strings.HasPrefix(filepath.Base(at), ".") }

// vaultStamp returns a text that differs once somebody has written to the vault.
func (f *follower) vaultStamp() string {
	var parts []string
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(workspace.RealPath(f.vault) + suffix); err == nil {
			parts = append(parts, info.ModTime().Format(time.RFC3339Nano), strconv.FormatInt(info.Size(), 10))
		}
	}
	return strings.Join(parts, " ")
}

// watch asks the system to report changes of the folder. On a network drive it reports only those made on this machine, so the
// folder is compared from time to time as well.
func (f *follower) watch() {
	f.remote = isRemote(f.dir)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		f.o.Logger.Warn("the system sends no notices of changes: the folder is compared from time to time", "folder", f.dir, "error", err)
		return
	}
	f.notices = w
	f.watchNew()
}

// watchNew also watches the folders below the folder that are not watched yet.
func (f *follower) watchNew() {
	if f.notices == nil {
		return
	}
	known := f.notices.WatchList()
	slices.Sort(known)
	_ = filepath.WalkDir(f.dir, func(at string, d fs.DirEntry, err error) error { // what cannot be read is not watched
		switch {
		case err != nil, !d.IsDir():
			return nil //nolint:nilerr // see above
		case at != f.dir && isHidden(at):
			return fs.SkipDir
		}
		if _, found := slices.BinarySearch(known, at); found {
			return nil
		}
		if err := f.notices.Add(at); err != nil {
			f.o.Logger.Warn("the system sends no notices of changes: the folder is compared from time to time", "folder", f.dir, "error", err)
			f.close()
			return fs.SkipAll
		}
		return nil
	})
}

func (f *follower) close() {
	if f.notices != nil {
		_ = f.notices.Close() // it only gives back what it holds
		f.notices = nil
	}
}
