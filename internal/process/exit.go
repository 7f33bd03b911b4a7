package process

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// ExitInfo says how the leader of a process group ended.
type ExitInfo struct {
	// Code is the exit code; -1 if a signal ended it.
	Code int
	// Signal is the name of that signal, "SIGKILL"; empty if it exited. Unix only.
	Signal string
	Uptime time.Duration
	// KilledOOM reports that a SIGKILL we did not send came while the kernel counted an
	// out-of-memory kill in our control group. Linux only. The code 137 of a shell or
	// of docker alone does not set it: it says no more than "killed".
	KilledOOM bool
}

// String reads "exit code 3" or "SIGKILL (out of memory)".
func (e ExitInfo) String() string {
	switch {
	case e.KilledOOM:
		return e.Signal + " (out of memory)"
	case e.Signal != "":
		return e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// MissingCommand reports that a wrapper most likely did not find, or could not execute,
// what it was to run: exit code 127 or 126 within two seconds.
func (e ExitInfo) MissingCommand() bool {
	return (e.Code == 127 || e.Code == 126) && e.Uptime <= 2*time.Second
}

func exitInfo(state *os.ProcessState, uptime time.Duration) ExitInfo {
	info := ExitInfo{Code: -1, Uptime: uptime}
	if state == nil {
		return info // the kernel would not say
	}
	info.Code = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		info.Signal = signalName(ws.Signal())
	}
	return info
}
