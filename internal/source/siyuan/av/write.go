package av

import (
	"context"
	"maps"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file sends changes of databases to the kernel, and waits until they are stored.

// transact runs operations on a database through one of its blocks, which is marked as changed.
func transact(ctx context.Context, r *action.Request, block kernel.ID, ops ...kernel.Operation) error {
	now := time.Now()
	if block != "" {
		ops = append(ops, kernel.Operation{"action": "doUpdateUpdated", "id": block, "data": now.Format("20060102150405")})
	}
	_, err := r.Kernel.Transact(ctx, now.UnixMilli(), ops...)
	return err
}

// retryWaits are the waits between checks whether a write is stored. The first check is immediate.
type retryWaits []time.Duration

// pollUntil calls look until it returns true, and reports whether it did. It also continues after errors, because the
// write has happened already.
func (p retryWaits) pollUntil(ctx context.Context, look func() (done bool, err error)) bool {
	for n := 0; ; n++ {
		if done, err := look(); done && err == nil {
			return true
		}
		if n >= len(p) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(p[n]):
		}
	}
}

// pollDatabase reads a database until done accepts it.
func (p retryWaits) pollDatabase(ctx context.Context, k *kernel.Client, id kernel.ID, done func(*kernel.Database) bool) bool {
	return p.pollUntil(ctx, func() (bool, error) {
		db, err := k.Database(ctx, id)
		return err == nil && done(db), err
	})
}

// notYetStoredError returns the error for a write that the kernel accepted but that is not visible yet. It may still become
// visible, so repeating it could write twice.
func notYetStoredError(op string, id kernel.ID, message, hint string, facts map[string]any) *tool.Error {
	all := map[string]any{"transactionState": "pending_verification", "retryAllowed": false, "avID": id}
	maps.Copy(all, facts)
	return &tool.Error{
		Op: op, Kind: kernel.Mismatch, Code: "pending_verification", Subject: string(id), OutcomeUnknown: true,
		Message: message, Hint: hint, Facts: all,
	}
}
