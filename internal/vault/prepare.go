package vault

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"collie/internal/vault/workspace"
)

// The record that tells how far a vault was prepared.
const (
	preparedKind, preparedID = "vault", "furnished"
	preparedDone             = "done"
	// preparedTime is how long another process may be at it before it is taken for dead.
	preparedTime = 30 * time.Second
)

// prepare makes a new vault ready: its snapshots get their key, and the caller's first notebook is put into it. Both
// can be done without. A process that was killed while it did so leaves the work to the next one.
func (v *Vault) prepare(ctx context.Context, w *workspace.Workspace, h http.Handler) {
	mine, err := claimPreparation(ctx, w)
	if err == nil && mine {
		if err := post(ctx, h, "/api/repo/initRepoKey", struct{}{}, nil); err != nil {
			v.o.Log.Warn("the vault starts without snapshots", "error", err)
		}
		if err := v.fill(ctx, w, h); err != nil {
			v.o.Log.Warn("the vault starts without its first notebook", "error", err)
		}
		err = recordPrepared(ctx, w, preparedDone)
	}
	if err != nil {
		v.o.Log.Warn("the vault is not ready", "error", err)
	}
}

// fill calls Fill if there is no notebook yet.
func (v *Vault) fill(ctx context.Context, w *workspace.Workspace, h http.Handler) error {
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

// claimPreparation reports whether the vault is to be prepared, and by this process.
func claimPreparation(ctx context.Context, w *workspace.Workspace) (mine bool, err error) {
	pending := func(tx *workspace.Tx) bool {
		r := tx.Record(preparedKind, preparedID)
		return r == nil || string(r.Body) != preparedDone && time.Since(time.UnixMilli(r.At)) > preparedTime
	}
	err = w.View(ctx, func(tx *workspace.Tx) error {
		mine = pending(tx)
		return nil
	})
	if err != nil || !mine {
		return false, err
	}
	err = w.Update(ctx, func(tx *workspace.Tx) error {
		if mine = pending(tx); mine {
			tx.PutRecord(preparedRecord("begun"))
		}
		return nil
	})
	return mine, err
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

// Create makes the file of an empty vault, even without a key for snapshots. The vault is not prepared. Create fails
// if the file exists.
func Create(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("make the vault %s: %w", path, os.ErrExist)
	}
	ctx := context.Background()
	w, err := workspace.Open(ctx, path, workspace.Options{})
	if err != nil {
		return err
	}
	if err := recordPrepared(ctx, w, preparedDone); err != nil {
		return fmt.Errorf("make the vault %s: %w", path, err)
	}
	return w.Close()
}
