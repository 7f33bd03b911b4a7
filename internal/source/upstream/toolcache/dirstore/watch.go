package dirstore

import (
	"context"
	"os"
	"time"
)

// Watch looks at the folder every Options.Poll: file systems tell nobody of what another
// host does. It is silent about commits of this Store, but for one that it sees before the
// Store has been told that it worked.
func (s *Store) Watch(ctx context.Context, f func()) error {
	told := s.seen.Load()
	tick := time.NewTicker(s.opts.Poll)
	defer tick.Stop()
	for {
		now, err := do(ctx, s, "watch shared tool cache", s.generations.latest)
		if err != nil {
			return err
		}
		if now != told && !s.own.covers(told, now) {
			f()
		}
		told = now
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.life.Done():
			return s.explain("watch shared tool cache", os.ErrClosed)
		}
	}
}
