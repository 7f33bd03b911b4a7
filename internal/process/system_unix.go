//go:build unix

package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// This file ends and examines groups of processes on Unix.

// Alive reports whether a process with this number is running, of any user. A zombie, which has ended but is
// not reaped, does not count.
func Alive(pid int) bool {
	if pid <= 0 || !exists(pid) {
		return false
	}
	s, err := readState(pid)
	return err != nil || !s.zombie
}

// startTime returns when the process started, in a unit of the platform that is good only for comparing.
// Together with pid it identifies a process until the next boot.
func startTime(pid int) (int64, error) {
	s, err := readState(pid)
	return s.start, err
}

// exists reports whether the number is in use, by a process or, if negative, by a group.
func exists(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// group is the process group of one child. Its number cannot be reused while the leader is unreaped or any
// member lives. Later it can be, and the new group then has a leader with that number; signalling checks for
// such a leader first.
type group struct {
	pgid   int
	reaped atomic.Bool
}

// prepare makes the command the leader of a new group. Linux's parent-death signal is not used, because it is
// sent when the starting thread ends, not the process.
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

// alive reports whether any process of the group runs. Call it after the leader was reaped.
func (g *group) alive() bool {
	// If we are process 1 of a container, we inherit orphans and have to reap them.
	for pid, err := 1, error(nil); pid > 0 && err == nil; {
		pid, err = unix.Wait4(-g.pgid, nil, unix.WNOHANG, nil)
	}
	return g.ours() && groupAlive(g.pgid)
}

func (g *group) close() {}

// groupAlive reports whether a process of the group runs. Zombies do not count, because it is possible that
// no process reaps them.
func groupAlive(pgid int) bool { return pgid > 1 && exists(-pgid) && hasLiveMembers(pgid) }

func terminateGroup(pgid int) { signalGroup(pgid, unix.SIGTERM) }

func killGroup(pgid int) { signalGroup(pgid, unix.SIGKILL) }

// signalGroup ignores 0 and 1, which kill(2) would take for our own group and for all processes. It ignores
// errors too: they mean that there is no such process, and alive reports that.
func signalGroup(pgid int, sig syscall.Signal) {
	if pgid > 1 {
		_ = unix.Kill(-pgid, sig)
	}
}

// Terminate asks a process that is not ours to end.
func Terminate(pid int) error {
	if pid <= 1 {
		return unix.EINVAL
	}
	return unix.Kill(pid, unix.SIGTERM)
}

func signalName(sig syscall.Signal) string { return unix.SignalName(sig) }

// processorTime returns the processor time this program has used, user and system.
func processorTime() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// needsReaper says whether this platform needs a [Reaper].
const needsReaper = true

// detach makes a command start in a session of its own, so that signals to our session do not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// executable returns path if it is a file this user may execute.
func executable(path string, _ []string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() || info.Mode().Perm()&0o111 == 0 || unix.Access(path, unix.X_OK) != nil {
		return "", &fs.PathError{Op: "execute", Path: path, Err: fs.ErrPermission}
	}
	return path, nil
}

// sameEnvName reports whether two names mean the same environment variable.
func sameEnvName(a, b string) bool { return a == b }
