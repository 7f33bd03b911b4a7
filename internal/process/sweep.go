package process

import (
	"context"
	"fmt"
	"slices"
)

// Sweep ends the children of gateways that are gone and strikes them out. A process is
// touched only if it lives and started when the ledger says; any other line of a gone
// gateway is struck out and that is all. All are ended together: SIGTERM to the group,
// SIGKILL after the usual wait or when ctx ends. It returns those it ended.
//
// Call it once, when a gateway starts.
func (l *Ledger) Sweep(ctx context.Context) (ended []Child, err error) {
	var orphans []Child
	err = l.store.Update(ctx, func(old []byte) ([]byte, error) {
		orphans = slices.DeleteFunc(l.parse(old), func(c Child) bool { return !l.orphan(c) })
		return old, nil // they stay on record until they are ended
	})
	if err != nil {
		return nil, fmt.Errorf("read list of child processes: %w", err)
	}
	if len(orphans) == 0 {
		return nil, l.forget(ctx, nil)
	}
	var targets []target
	for _, c := range orphans {
		targets = append(targets, target{c.Pgid, c.StartTime})
	}
	left := endGroups(ctx, targets, Ladder{}.withDefaults().TermWait)
	survived := func(c Child) bool { return slices.Contains(left, target{c.Pgid, c.StartTime}) }
	ended = slices.DeleteFunc(slices.Clone(orphans), survived)
	return ended, l.forget(context.WithoutCancel(ctx), survived)
}

// orphan reports whether c lives and its gateway does not. A line whose group is not led
// by its own pid was not written by us.
func (l *Ledger) orphan(c Child) bool {
	return c.Gateway != l.self && c.Gateway.gone(l.self.Boot) && c.Gateway.Boot == l.self.Boot &&
		c.Pgid == c.Pid && c.Pid > 1 && target{c.Pgid, c.StartTime}.isOurs()
}

// forget strikes out every line of gone gateways but those to keep.
func (l *Ledger) forget(ctx context.Context, keep func(Child) bool) error {
	err := l.store.Update(ctx, func(old []byte) ([]byte, error) {
		all := l.parse(old)
		rest := slices.DeleteFunc(slices.Clone(all), func(c Child) bool {
			return c.Gateway != l.self && c.Gateway.gone(l.self.Boot) && (keep == nil || !keep(c))
		})
		if len(rest) == len(all) {
			return old, nil
		}
		return encodeLedger(rest)
	})
	if err != nil {
		return fmt.Errorf("strike out child processes that are gone: %w", err)
	}
	return nil
}
