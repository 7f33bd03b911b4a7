//go:build unix

package process

import (
	"errors"

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

// StartTime returns when the process started, in units of the platform that are only good
// for comparing: together with pid it names one process for as long as the machine runs.
func StartTime(pid int) (int64, error) {
	s, err := readState(pid)
	return s.start, err
}

// exists reports whether the number (of a group if negative) is taken.
func exists(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
