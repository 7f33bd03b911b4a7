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

// Alive reports whether a process with this number runs. One of another user does, one
// that has ended and waits to be reaped does not.
func Alive(pid int) bool {
	if pid <= 0 || !exists(pid) {
		return false
	}
	s, err := readState(pid)
	return err != nil || !s.zombie
}

// startTime returns when the process started, in units of the platform that are only good
// for comparing: together with pid it names one process for as long as the machine runs.
func startTime(pid int) (int64, error) {
	s, err := readState(pid)
	return s.start, err
}

// exists reports whether the number (of a group if negative) is taken.
func exists(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

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

// processorTime is what this program has used, user and system.
func processorTime() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// needsReaper says whether this platform needs a [Reaper].
const needsReaper = true

// detach puts the reaper into a session of its own, out of reach of what ends ours.
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

func sameKey(a, b string) bool { return a == b }
