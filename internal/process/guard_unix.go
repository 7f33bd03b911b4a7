//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// guarded says whether this platform needs a [Guard].
const guarded = true

// detach puts the guard into a session of its own, out of reach of what ends ours.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
