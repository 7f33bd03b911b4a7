package process

import (
	"context"
	"time"
)

// target is a group that another program started.
type target struct {
	pgid  int
	start int64 // of its leader, 0 = not known
}

// isOurs reports whether the leader lives and is the one recorded.
func (t target) isOurs() bool {
	start, err := StartTime(t.pgid)
	return err == nil && t.start != 0 && start == t.start && Alive(t.pgid)
}

// mayBeOurs reports the same, or that the leader is gone: its group keeps the number from
// being used again for as long as it has members. Good for the moment after the one who
// would have told us died, not for a file of yesterday.
func (t target) mayBeOurs() bool {
	start, err := StartTime(t.pgid)
	return err != nil || t.start == 0 || start == t.start
}

// endGroups sends SIGTERM to the groups, and SIGKILL to what is left after grace or when
// ctx ends. It returns those that survive that.
func endGroups(ctx context.Context, targets []target, grace time.Duration) (left []target) {
	for _, t := range targets {
		terminateGroup(t.pgid)
	}
	left = awaitGroups(ctx, targets, grace)
	for _, t := range left {
		killGroup(t.pgid)
	}
	return awaitGroups(context.WithoutCancel(ctx), left, time.Second)
}

// awaitGroups returns the groups that still live when d is over or ctx ends.
func awaitGroups(ctx context.Context, targets []target, d time.Duration) (left []target) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	poll := time.NewTicker(groupPoll)
	defer poll.Stop()
	for {
		left = nil
		for _, t := range targets {
			if groupAlive(t.pgid) {
				left = append(left, t)
			}
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-poll.C:
		case <-timer.C:
			return left
		case <-ctx.Done():
			return left
		}
		targets = left
	}
}
