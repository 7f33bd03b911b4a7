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
	vaultadmin "collie/internal/vault/admin"
)

// This file opens, checks and backs up the database of the agent host: conversations, state of keys, reviews, grants.

// schemas returns the database schemas of all parts that store data in the file.
func schemas() []store.Schema {
	return []store.Schema{chat.Schema(), keydb.Schema, guardian.Schema, grantdb.Schema}
}

// StoreFile returns the path of the database, and whether the file exists.
func StoreFile(cfg *config.Config) (path string, exists bool) {
	path = filepath.Join(cfg.Paths.Data, store.FileName)
	_, err := os.Stat(path)
	return path, err == nil
}

// CheckStore checks the database for damage. It may be in use. Like every start it brings the tables of an older version
// up to date; it changes nothing else. Each problem is a sentence. A file that cannot even be opened is an error.
func CheckStore(ctx context.Context, cfg *config.Config) (problems []string, err error) {
	err = withStore(ctx, cfg, "store check", func(s *store.Store) error {
		problems, err = s.Check(ctx)
		return err
	})
	return problems, err
}

// BackupStore writes a copy of the database to path, which must not exist. The database may be in use. Attachments are
// separate files and are not copied.
func BackupStore(ctx context.Context, cfg *config.Config, path string) error {
	const op = "store backup"
	return withStore(ctx, cfg, op, func(s *store.Store) error {
		err := s.Backup(ctx, path)
		switch _, atPath := errors.AsType[*fs.PathError](err); {
		case errors.Is(err, fs.ErrExist):
			return storeError(ctx, op, path, err) // path, and not the database
		case atPath:
			return vaultadmin.FileError(op, path, err)
		}
		return err
	})
}

// withStore opens the existing database for the time that fn runs.
func withStore(ctx context.Context, cfg *config.Config, op string, fn func(*store.Store) error) error {
	path, _ := StoreFile(cfg)
	s, err := store.Open(ctx, cfg.Paths.Data, schemas()...)
	if err == nil {
		err = errors.Join(fn(s), s.Close())
	}
	return storeError(ctx, op, path, err)
}

// storeError adds the path and a hint to an error of the database, unless it has them already. It returns nil for nil.
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
