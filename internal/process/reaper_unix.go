//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// needsReaper says whether this platform needs a [Reaper].
const needsReaper = true

// detach puts the reaper into a session of its own, out of reach of what ends ours.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
