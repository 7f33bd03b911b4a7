package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/tool"
	"collie/internal/vault/folder"
	"collie/internal/vault/salvage"
	"collie/internal/vault/workspace"
)

// This file restores a vault from a backup, and salvages what is left of a damaged one.

// Restored is the result of [Vault.Restore].
type Restored struct {
	// Kept is the new path of the vault that was replaced, "" if there was none.
	Kept string
	Info
}

// MayRestore returns why a file cannot be a backup of the vault, as far as that is known without reading it.
func (v *Vault) MayRestore(backup string) error {
	const op = "restore the vault"
	info, err := os.Stat(backup)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &tool.Error{Op: op, Kind: tool.NotFound, Subject: backup, Message: "there is no such file"}
	case err != nil:
		return FileError(op, backup, err)
	case !info.Mode().IsRegular() || info.Size() == 0:
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: backup, Message: "it is empty or not a file; expected a backup of a vault"}
	}
	if current, err := os.Stat(v.Path()); err == nil && os.SameFile(current, info) {
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: backup, Message: "it is the vault itself, expected a backup of it"}
	}
	return nil
}

// Restore replaces the vault by a backup, and keeps the replaced vault next to it. First the backup is copied and
// checked; unless it is sound, nothing is changed. The log of the replaced vault is removed right before the backup
// gets its name. If the machine stops between these two steps, the vault lacks what was only in the log, but the kept
// copy has it. Nobody else may use the vault meanwhile.
func (v *Vault) Restore(ctx context.Context, backup string, progress func(done, total int)) (r Restored, err error) {
	const op = "restore the vault"
	if err := v.MayRestore(backup); err != nil {
		return r, err
	}
	file := workspace.RealPath(v.Path())
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, FileError(op, dir, err)
	}
	unlock, err := atomicfile.Lock(ctx, v.Path()+".import.lock")
	if err != nil {
		return r, FileError(op, dir, err)
	}
	defer unlock()
	part, cleanup, err := workspace.TempDir(dir, ".collie-restore-")
	if err != nil {
		return r, FileError(op, dir, err)
	}
	defer cleanup()
	restored := filepath.Join(part, "vault.db")
	for _, suffix := range []string{"", "-wal"} { // a copy made by hand may have a log
		if err := copyFile(ctx, workspace.RealPath(backup)+suffix, restored+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return r, FileError(op, backup, err)
		}
	}
	if r.Info, err = checkBackup(ctx, op, backup, restored, progress); err != nil {
		return r, err
	}
	if r.Kept, err = keepCopy(file, time.Now()); err != nil {
		return r, FileError(op, v.Path(), err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(file + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return r, FileError(op, v.Path(), err)
		}
	}
	if err := os.Rename(restored, file); err != nil {
		return r, FileError(op, v.Path(), err)
	}
	if d, err := os.Open(dir); err == nil { // makes the name survive a crash of the machine
		_ = d.Sync() // not supported on every system
		_ = d.Close()
	}
	r.Path = v.Path()
	return r, nil
}

// checkBackup checks the copy of a backup at restored, and migrates it. Errors name backup.
func checkBackup(ctx context.Context, op, backup, restored string, progress func(done, total int)) (info Info, err error) {
	w, err := workspace.Open(ctx, restored, workspace.Options{})
	if err != nil {
		if workspace.TroubleOf(err) != "" {
			err = &tool.Error{Op: op, Kind: tool.Invalid, Subject: backup, Message: "it is not a sound backup of a vault: nothing was changed", Err: err}
		}
		return info, err
	}
	problems, err := w.Check(ctx, progress)
	if err == nil {
		info, err = w.Info(ctx)
	}
	err = errors.Join(err, w.Close())
	switch {
	case ctx.Err() != nil:
		return info, &tool.Error{Op: op, Kind: tool.Canceled, Subject: backup, Message: "interrupted: nothing was changed", Err: context.Cause(ctx)}
	case err != nil || len(problems) > 0 && problems[0].Subject == "database":
		return info, &tool.Error{Op: op, Kind: tool.Invalid, Subject: backup, Message: "the backup is damaged: nothing was changed", Err: err, Hint: "try an older one"}
	case info.Notebooks == 0:
		return info, &tool.Error{Op: op, Kind: tool.Invalid, Subject: backup, Message: "the backup holds no notebook: nothing was changed"}
	case len(problems) > 0:
		return info, &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: backup, Message: fmt.Sprintf("the backup has %d problems, such as %s: nothing was changed", len(problems), problems[0]),
			Hint: "try an older one",
		}
	}
	return info, syncFile(restored)
}

// keepCopy gives a vault and its log a second name, and returns that; "" if there is no vault. The log comes first,
// because a vault without its log would look complete.
func keepCopy(path string, now time.Time) (kept string, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext) + "-before-" + now.Format("20060102-150405")
	kept = stem + ext
	for i := 2; ; i++ {
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept = fmt.Sprintf("%s-%d%s", stem, i, ext)
	}
	for _, suffix := range []string{"-wal", ""} {
		err := os.Link(path+suffix, kept+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			err = copyFile(context.Background(), path+suffix, kept+suffix) // not every file system has links
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return kept, nil
}

// copyFile copies a file to a new one, and returns once that is on the disk. After an error the new file does not
// exist.
func copyFile(ctx context.Context, from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(dst, reader{ctx, src}); err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		err = errors.Join(err, os.Remove(to))
	}
	return err
}

// reader reads from src until ctx ends.
type reader struct {
	ctx context.Context
	src io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.src.Read(p)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// LostNotes is something that [Vault.Salvage] could not recover.
type LostNotes = salvage.Lost

// lostList is the file in the folder of a salvage that lists what is missing.
const lostList = "not-salvaged.txt"

// Salvage writes what can still be read of a damaged vault as a folder of Markdown, and returns what is missing. The
// file of the vault is only read.
func (v *Vault) Salvage(ctx context.Context, dir string) (report FolderReport, lost []LostNotes, err error) {
	const op = "salvage the vault"
	if !v.Exists() {
		_, err := v.open(ctx, op) // returns the error for a missing vault
		return report, nil, err
	}
	notes, err := salvage.Read(ctx, v.Path())
	if err != nil {
		return report, nil, folderError(ctx, op, v.Path(), err)
	}
	if notes.Empty() {
		return report, nil, &tool.Error{Op: op, Kind: tool.NotFound, Subject: v.Path(), Message: "no notes were found in it", Hint: "collie vault restore BACKUP goes back to a backup"}
	}
	tmp, cleanup, err := workspace.TempDir(os.TempDir(), "collie-salvage-")
	if err != nil {
		return report, nil, FileError(op, os.TempDir(), err)
	}
	defer cleanup()
	w, err := workspace.Open(ctx, filepath.Join(tmp, "vault.db"), workspace.Options{})
	if err != nil {
		return report, nil, err
	}
	defer w.Close()
	if lost, err = notes.Fill(ctx, w); err != nil {
		return report, nil, folderError(ctx, op, v.Path(), vaultError(op, tmp, err))
	}
	if report, err = folder.Export(ctx, w, dir, folder.ExportOptions{}); err != nil {
		return report, lost, folderError(ctx, op, dir, err)
	}
	var list strings.Builder
	for _, l := range lost {
		fmt.Fprintf(&list, "%s: %s\n", l.Where, l.What)
	}
	if err := os.WriteFile(filepath.Join(dir, lostList), []byte(list.String()), 0o600); err != nil {
		return report, lost, FileError(op, dir, err)
	}
	return report, lost, nil
}
