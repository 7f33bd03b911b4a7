package process

import (
	"fmt"
	"time"
)

const (
	// drainWait is how long pipes may give what is left in them.
	drainWait = 500 * time.Millisecond
	// killWait is how long the kernel may take over a SIGKILL.
	killWait = 5 * time.Second
	// groupPoll is how often a group is looked at: nothing announces its last end.
	groupPoll = 10 * time.Millisecond
)

// run takes the process from its start to where nothing of it is left, whether it was
// told to stop or ended by itself.
func (p *Process) run() {
	defer close(p.gone)
	reaped := make(chan struct{})
	go p.reap(reaped)

	select {
	case <-reaped:
	case <-p.stopping:
		_ = p.stdin.Close() // closed already is as good
		p.within(p.ladder.CloseWait, reaped)
	}
	if !p.emptied(0, reaped, nil) {
		p.group.terminate()
		if !p.emptied(p.ladder.TermWait, reaped, p.killing) {
			p.killed.Store(true)
			p.group.kill()
		}
	}
	if !p.emptied(killWait, reaped, nil) {
		p.err = fmt.Errorf("process %d (%s) is still there %s after SIGKILL", p.Pid(), p.label, killWait)
		p.log.Error("process survives SIGKILL", "pid", p.Pid())
		p.closePipes() // reaper and ledger keep it
		return
	}
	p.group.close()
	p.closePipes()
	p.unregister()
	<-p.done
}

// reap waits for the leader and tells how it ended.
func (p *Process) reap(reaped chan<- struct{}) {
	_ = p.cmd.Wait() // a bad exit code is not an error here
	p.group.reaped.Store(true)
	p.exit = exitInfo(p.cmd.ProcessState, time.Since(p.started))
	if p.exit.Signal == "SIGKILL" && !p.killed.Load() && p.oom >= 0 {
		p.exit.KilledOOM = oomKills() > p.oom
	}
	close(reaped)
	_ = p.stdin.Close() // a write must not wait for what the leader left behind
	wait(p.drained, drainWait)
	close(p.done)
}

// drain reads stderr to its end, so that the child never waits for us.
func (p *Process) drain(line func([]byte)) {
	defer close(p.drained)
	eachLine(p.stderr, func(b []byte) {
		p.tail.Add(Stderr, string(b))
		if line != nil {
			line(b)
		}
	})
}

// closePipes gives both readers drainWait to see the end by themselves.
func (p *Process) closePipes() {
	limit := time.Now().Add(drainWait)
	wait(p.drained, time.Until(limit))
	wait(p.stdout.done, time.Until(limit))
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	_ = p.stderr.Close()
	<-p.drained
}

// within waits for ch, but no longer than d, and not at all once hurried.
func (p *Process) within(d time.Duration, ch <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
	case <-timer.C:
	case <-p.killing:
	}
}

// emptied waits until the leader is reaped and the group empty, and reports whether that
// came true before d was over or hurried closed.
func (p *Process) emptied(d time.Duration, reaped, hurried <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-reaped:
	default:
		select {
		case <-reaped:
		case <-timer.C:
			return false
		case <-hurried:
			return false
		}
	}
	poll := time.NewTicker(groupPoll)
	defer poll.Stop()
	for p.group.alive() {
		select {
		case <-poll.C:
		case <-timer.C:
			return false
		case <-hurried:
			return false
		}
	}
	return true
}

// wait waits for ch, but no longer than d.
func wait(ch <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
	case <-timer.C:
	}
}
