package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"collie/internal/chat"
	"collie/internal/config"
	"collie/internal/llm/keypool/keydb"
	"collie/internal/pipeline/gate/grant/grantdb"
	"collie/internal/pipeline/guardian"
	"collie/internal/store"
	"collie/internal/tool"
)

// schemas are the tables of all parts with data in that file.
func schemas() []store.Schema {
	return []store.Schema{chat.Schema(), keydb.Schema, guardian.Schema, grantdb.Schema}
}

// StoreFile is the file that conversations, usage and the state of keys are kept in, and whether it is there yet.
func StoreFile(cfg *config.Config) (path string, exists bool) {
	path = filepath.Join(cfg.Paths.Data, store.FileName)
	_, err := os.Stat(path)
	return path, err == nil
}

// CheckStore looks for damage in that file, beside whoever uses it, and changes nothing. Each problem is a sentence. A file
// that cannot even be opened is an error.
func CheckStore(ctx context.Context, cfg *config.Config) (problems []string, err error) {
	err = withStore(ctx, cfg, "store check", func(s *store.Store) error {
		problems, err = s.Check(ctx)
		return err
	})
	return problems, err
}

// BackupStore writes a copy of that file to path, which must not be there, beside whoever uses it. Attachments lie beside the
// file, and are not in the copy.
func BackupStore(ctx context.Context, cfg *config.Config, path string) error {
	return withStore(ctx, cfg, "store backup", func(s *store.Store) error { return s.Backup(ctx, path) })
}

// withStore opens the file, which is there, for the time that fn runs.
func withStore(ctx context.Context, cfg *config.Config, op string, fn func(*store.Store) error) error {
	path, _ := StoreFile(cfg)
	s, err := store.Open(ctx, cfg.Paths.Data, schemas()...)
	if err == nil {
		err = errors.Join(fn(s), s.Close())
	}
	return storeError(ctx, op, path, err)
}

// storeError returns err, of the file at path, with what to do about it; nil stays nil, and an error that says so already
// stays as it is.
func storeError(ctx context.Context, op, path string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*tool.Error](err); ok {
		return known
	}
	out := &tool.Error{
		Op: op, Kind: tool.Internal, Subject: path, Err: err,
		Hint: "move the file away, with those of the same name that end in -wal and -shm, and put a backup in its place; without one a new file is begun",
	}
	switch {
	case ctx.Err() != nil:
		out.Kind, out.Hint = tool.Canceled, ""
	case errors.Is(err, fs.ErrPermission):
		out.Kind, out.Hint = tool.Unavailable, "give yourself the right to read and write it"
	case errors.Is(err, fs.ErrExist):
		out.Kind, out.Hint = tool.Exists, "name another file: a backup never overwrites one"
	}
	return out
}
