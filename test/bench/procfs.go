package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// tick is the unit of processor times in /proc/PID/stat: 1/USER_HZ, and USER_HZ is 100 on every Linux that Go
// supports.
const tick = 10 * time.Millisecond

// cpuTime returns the processor time of a process without its children. It returns an error if there is no
// /proc.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	name := bytes.LastIndexByte(text, ')') // its end; it may contain anything
	fields := strings.Fields(string(text[name+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is short: %q", pid, text)
	}
	var total time.Duration
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * tick
	}
	return total, nil
}

// children returns the running child processes of a process.
func children(pid int) ([]int, error) {
	all, err := process.Processes()
	if err != nil {
		return nil, err
	}
	var out []int
	for _, p := range all {
		if parent, err := p.Ppid(); err == nil && int(parent) == pid { // an error means that it has just ended
			out = append(out, int(p.Pid))
		}
	}
	return out, nil
}

// alive reports whether a process with this id exists.
func alive(pid int) bool {
	there, err := process.PidExists(int32(pid))
	return there && err == nil
}

// memory returns VmRSS, RssAnon or VmHWM of a process, in MiB.
func memory(pid int, field string) (float64, error) {
	kib, err := status(fmt.Sprintf("/proc/%d/status", pid), field)
	return kib / 1024, err
}

// wakeups returns how often per second the threads of a process were scheduled during d.
func wakeups(ctx context.Context, pid int, d time.Duration) (float64, error) {
	before, err := switches(pid)
	if err != nil {
		return 0, err
	}
	if err := pause(ctx, d); err != nil {
		return 0, err
	}
	after, err := switches(pid)
	return (after - before) / d.Seconds(), err
}

// switches returns how often the threads of a process have given up their processor to wait.
func switches(pid int) (total float64, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err == nil && len(threads) == 0 {
		err = os.ErrNotExist
	}
	for _, file := range threads {
		n, serr := status(file, "voluntary_ctxt_switches")
		if serr != nil {
			return 0, serr
		}
		total += n
	}
	return total, err
}

// status reads a number from a file of lines "name: number unit".
func status(file, name string) (float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.ParseFloat(strings.Fields(value)[0], 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, name)
}
