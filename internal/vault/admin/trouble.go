package admin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"collie/internal/atomicfile"
	"collie/internal/tool"
	"collie/internal/vault/workspace"
)

// vaultError adds to an error of the vault's file what a person can do. Other errors are returned unchanged.
func vaultError(op, path string, err error) error {
	trouble := workspace.TroubleOf(err)
	if _, ok := errors.AsType[*tool.Error](err); err == nil || ok || trouble == "" {
		return err
	}
	return TroubleError(op, path, trouble, err)
}

// unusableKind is the kind of errors about a file that cannot be used.
const unusableKind = tool.Upstream + "/api_error"

// TroubleError returns an error that says what is wrong with a vault and what to do. For a failed write it also says that
// nothing was written.
func TroubleError(op, path string, trouble workspace.Trouble, err error) *tool.Error {
	e := &tool.Error{Op: op, Kind: unusableKind, Code: "vault_" + string(trouble), Subject: path, Err: err}
	switch trouble {
	case workspace.Damaged:
		e.Message = "the file of the vault is damaged"
		e.Hint = "collie vault restore BACKUP goes back to a backup; collie vault salvage DIR writes what can still be read as Markdown"
		if backup := lastBackup(path); backup != "" {
			e.Hint = "the last backup is " + backup + ": collie vault restore goes back to it; collie vault salvage DIR writes what can still be read as Markdown"
		}
	case workspace.Newer:
		e.Message, e.Hint = "the file of the vault is of a newer Collie", "update Collie"
	case workspace.Foreign:
		e.Message, e.Hint = "the file is not a vault", "vault.file in the settings names another one; collie vault restore BACKUP puts a backup there"
	case workspace.Unwritten:
		e.Message, e.Hint = "the file of the vault is read-only: nothing was written", "give yourself the right to write the file and its folder"
	case workspace.DiskFull:
		e.Message, e.Hint = "the disk is full: nothing was written", "make room, and try again"
	case workspace.Locked:
		e.Message, e.Hint = "another process does not let go of the vault: nothing was written", "try again; a copy or a sync of the file may hold it"
	case workspace.Unopened:
		e.Message = "the file of the vault cannot be opened"
		e.Hint = "it has to be a file that you may read and write, in a folder in which you may make files; vault.file in the settings names another one"
	}
	return e
}

// backupRecord returns the file that has the path of a vault's last backup.
func backupRecord(path string) string { return path + ".backup" }

// recordBackup records the path of a backup, for the hint of [TroubleError].
func recordBackup(path, backup string) {
	_ = atomicfile.WriteNoSync(backupRecord(path), []byte(backup), 0o600) // without it, only a hint is missing
}

// lastBackup returns the path of the last backup of a vault, "" if that file no longer exists.
func lastBackup(path string) string {
	data, err := os.ReadFile(backupRecord(path))
	if err != nil || len(data) > 4096 || !filepath.IsAbs(string(data)) {
		return ""
	}
	if info, err := os.Stat(string(data)); err != nil || !info.Mode().IsRegular() { //nolint:gosec // only checks whether the file exists
		return ""
	}
	return string(data)
}

// FileError returns the error for a file or folder that cannot be written, with a hint that depends on the system's
// error.
func FileError(op, path string, err error) error {
	e := &tool.Error{Op: op, Kind: tool.Internal, Subject: path, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Message, e.Hint = tool.NotFound, "the folder that is to contain it does not exist", "make it, or name another place"
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Message, e.Hint = tool.Unavailable, "it must not be written there", "name a place that you may write"
	case errors.Is(err, syscall.ENOTDIR):
		e.Kind, e.Message, e.Hint = tool.Invalid, "a file is there, expected a folder", "name a new or an empty folder"
	case errors.Is(err, syscall.ENOSPC):
		e.Kind, e.Code, e.Message, e.Hint = tool.Unavailable, "disk_full", "the disk is full", "make room, or name another place"
	}
	return e
}
