package process

import "os/exec"

// needsReaper says whether this platform needs a [Reaper].
const needsReaper = false

func detach(*exec.Cmd) {}
