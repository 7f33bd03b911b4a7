package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// procState is what /proc says of one process. A library would turn the start into wall
// clock time, which moves by a second or more when the clock is set and between two
// readers in a container; ticks since boot do not move.
type procState struct {
	zombie bool
	pgid   int
	start  int64 // clock ticks since boot
}

var errProcFormat = errors.New("process state has an unknown format")

func readState(pid int) (procState, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return procState{}, err
	}
	return parseStat(data)
}

// parseStat reads "pid (name) state ppid pgrp …"; the name may hold spaces and brackets,
// so fields count from its last bracket. Field 22 of the whole is the start.
func parseStat(data []byte) (procState, error) {
	_, after, ok := bytes.Cut(data[max(bytes.LastIndexByte(data, ')'), 0):], []byte(") "))
	fields := bytes.Fields(after)
	if !ok || len(fields) < 20 {
		return procState{}, errProcFormat
	}
	pgid, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return procState{}, errProcFormat
	}
	start, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if err != nil {
		return procState{}, errProcFormat
	}
	state := fields[0][0]
	return procState{zombie: state == 'Z' || state == 'X', pgid: pgid, start: start}, nil
}

// members reports whether a process of the group pgid runs, zombies aside; true if it
// cannot tell.
func members(pgid int) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return true
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, err := readState(pid); err == nil && s.pgid == pgid && !s.zombie {
			return true
		}
	}
	return false
}

// bootID tells one boot's clock ticks from another's.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(id))
}
