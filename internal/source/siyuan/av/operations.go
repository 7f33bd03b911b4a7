package av

import (
	"context"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// transact runs operations on a database through one of its blocks, which counts as changed.
func transact(ctx context.Context, r *action.Request, block kernel.ID, ops ...kernel.Operation) error {
	now := time.Now()
	if block != "" {
		ops = append(ops, kernel.Operation{"action": "doUpdateUpdated", "id": block, "data": now.Format("20060102150405")})
	}
	_, err := r.Kernel.Transact(ctx, now.UnixMilli(), ops...)
	return err
}
