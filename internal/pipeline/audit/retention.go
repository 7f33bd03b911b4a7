package audit

import (
	"context"
	"time"

	"collie/internal/tool"
)

// The times of a [Retention].
const (
	firstPrune = time.Minute // after the start, which it must not slow down
	nextPrune  = 24 * time.Hour
)

// Retention removes old records while a process runs. The zero value does nothing.
type Retention struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// Retain removes the records in dir that are older than keep, for the first time after a minute and then once a day. If keep
// is 0, it does nothing. It sets the fields Before and Origin of o, and needs o.Log.Logger. The caller closes the result;
// the end of ctx does not stop it.
func Retain(ctx context.Context, dir string, keep time.Duration, o PruneOptions) Retention {
	if keep == 0 {
		return Retention{}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := Retention{cancel, make(chan struct{})}
	o.Origin = tool.Scheduled
	log := o.Log.Logger
	go func() {
		defer close(r.done)
		wait := time.NewTimer(firstPrune)
		defer wait.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-wait.C:
			}
			o.Before = time.Now().Add(-keep)
			switch p, err := Prune(ctx, dir, o); {
			case ctx.Err() != nil:
				return
			case err != nil:
				log.Warn("old records of the audit not removed", "error", err)
			case p.Segments > 0:
				log.Info("old records of the audit removed", "records", p.Records, "bytes", p.Bytes, "chains", p.Chains)
			case len(p.Kept) > 0:
				log.Warn("old records of the audit are kept: collie audit verify finds problems in them", "chains", p.Kept)
			}
			wait.Reset(nextPrune)
		}
	}()
	return r
}

// Close stops the removals and waits for that. Files that are being deleted are all deleted first.
func (r Retention) Close() {
	if r.cancel != nil {
		r.cancel()
		<-r.done
	}
}
