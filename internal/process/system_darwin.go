package process

import (
	"golang.org/x/sys/unix"
)

// This file asks the kernel of macOS what it knows about processes.

// zombie is SZOMB of sys/proc.h.
const zombie = 5

type procState struct {
	zombie bool
	start  int64 // microseconds since 1970
}

func readState(pid int) (procState, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return procState{}, err
	}
	if int(k.Proc.P_pid) != pid {
		return procState{}, unix.ESRCH
	}
	t := k.Proc.P_starttime
	return procState{zombie: k.Proc.P_stat == zombie, start: t.Sec*1e6 + int64(t.Usec)}, nil
}

// hasLiveMembers reports whether the group pgid has a running process; zombies do not count. It returns true if that
// cannot be found out.
func hasLiveMembers(pgid int) bool {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", pgid)
	if err != nil {
		return true
	}
	for i := range procs {
		if procs[i].Proc.P_stat != zombie {
			return true
		}
	}
	return false
}

func bootID() string { return "" } // start times are absolute here, so no boot repeats one
