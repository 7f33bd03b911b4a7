package vault

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"collie/internal/vault/workspace"
)

// This file prepares a new vault: its first notebook and its keys.

// The record that says whether a vault was prepared.
const (
	preparedKind, preparedID = "vault", "furnished"
	preparedDone             = "done"
	// claimTimeout is how long a process may take. If another one has claimed the preparation longer ago than that and has
	// not finished, it counts as dead.
	claimTimeout = 30 * time.Second
)

// prepare creates the key for snapshots and the first notebook in a new vault. A vault works without either, so
// failures are only logged. If the process is killed meanwhile, the next one does the work.
func (v *Vault) prepare(ctx context.Context, w *workspace.Workspace, h http.Handler) {
	claimed, err := claimPreparation(ctx, w)
	if err == nil && claimed {
		if err := post(ctx, h, "/api/repo/initRepoKey", struct{}{}, nil); err != nil {
			v.o.Log.Warn("the vault starts without snapshots", "error", err)
		}
		if err := v.fillEmpty(ctx, w, h); err != nil {
			v.o.Log.Warn("the vault starts without its first notebook", "error", err)
		}
		err = recordPrepared(ctx, w, preparedDone)
	}
	if err != nil {
		v.o.Log.Warn("the vault is not ready", "error", err)
	}
}

// fillEmpty calls Fill if there are no notebooks yet.
func (v *Vault) fillEmpty(ctx context.Context, w *workspace.Workspace, h http.Handler) error {
	if v.o.Fill == nil {
		return nil
	}
	empty := false
	err := w.View(ctx, func(tx *workspace.Tx) error {
		empty = len(tx.Notebooks()) == 0
		return nil
	})
	if err != nil || !empty {
		return err
	}
	return v.o.Fill(ctx, h)
}

// claimPreparation reports whether this process has to prepare the vault, and records that it does.
func claimPreparation(ctx context.Context, w *workspace.Workspace) (claimed bool, err error) {
	pending := func(tx *workspace.Tx) bool {
		r := tx.Record(preparedKind, preparedID)
		return r == nil || string(r.Body) != preparedDone && time.Since(time.UnixMilli(r.At)) > claimTimeout
	}
	err = w.View(ctx, func(tx *workspace.Tx) error {
		claimed = pending(tx)
		return nil
	})
	if err != nil || !claimed {
		return false, err
	}
	err = w.Update(ctx, func(tx *workspace.Tx) error {
		if claimed = pending(tx); claimed {
			tx.PutRecord(preparedRecord("begun"))
		}
		return nil
	})
	return claimed, err
}

func recordPrepared(ctx context.Context, w *workspace.Workspace, outcome string) error {
	return w.Update(ctx, func(tx *workspace.Tx) error {
		tx.PutRecord(preparedRecord(outcome))
		return nil
	})
}

func preparedRecord(outcome string) workspace.Record {
	return workspace.Record{Kind: preparedKind, ID: preparedID, At: time.Now().UnixMilli(), Body: []byte(outcome)}
}

// Create creates the file of an empty vault. It has no key for snapshots, and is marked as prepared so that it stays
// empty. Create fails if the file exists.
func Create(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("make the vault %s: %w", path, os.ErrExist)
	}
	ctx := context.Background()
	w, err := workspace.Open(ctx, path, workspace.Options{})
	if err != nil {
		return err
	}
	err = recordPrepared(ctx, w, preparedDone)
	if err = errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("make the vault %s: %w", path, err)
	}
	return nil
}
