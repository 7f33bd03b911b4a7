//go:build unix

package process

import (
	"os/exec"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the process group of one child. Its number cannot mean another group as long
// as its leader is unreaped or any member lives. After that it can, and then the new
// group has a leader of that number: signal looks for it.
type group struct {
	pgid   int
	reaped atomic.Bool
}

// prepare makes the command the leader of a new group. There is no parent-death signal:
// Linux sends it when the starting thread ends, not the process.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func newGroup(cmd *exec.Cmd) (*group, error) { return &group{pgid: cmd.Process.Pid}, nil }

func (g *group) ours() bool { return !g.reaped.Load() || !exists(g.pgid) }

func (g *group) terminate() {
	if g.ours() {
		terminateGroup(g.pgid)
	}
}

func (g *group) kill() {
	if g.ours() {
		killGroup(g.pgid)
	}
}

// alive reports whether anything of the group runs. Call it after the leader was reaped.
func (g *group) alive() bool {
	// As the first process of a container we inherit the orphans.
	for pid, err := 1, error(nil); pid > 0 && err == nil; {
		pid, err = unix.Wait4(-g.pgid, nil, unix.WNOHANG, nil)
	}
	return g.ours() && groupAlive(g.pgid)
}

func (g *group) close() {}

// groupAlive reports whether a process of the group runs. Zombies do not count: nobody
// may ever reap them.
func groupAlive(pgid int) bool { return pgid > 1 && exists(-pgid) && members(pgid) }

func terminateGroup(pgid int) { signalGroup(pgid, unix.SIGTERM) }

func killGroup(pgid int) { signalGroup(pgid, unix.SIGKILL) }

// signalGroup spares 0 and 1: to kill they mean our own group and everyone. An error
// means that there is nobody to signal, which alive tells better.
func signalGroup(pgid int, sig syscall.Signal) {
	if pgid > 1 {
		_ = unix.Kill(-pgid, sig)
	}
}

func signalName(sig syscall.Signal) string { return unix.SignalName(sig) }
