package process

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// This file ends and examines processes on Windows, with a Job Object for each child.

// stillActive (STILL_ACTIVE) is the exit code that Windows reports for a running process.
const stillActive = 259

// Alive reports whether a process with this number is running, of any user.
func Alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var code uint32
	return windows.GetExitCodeProcess(h, &code) != nil || code == stillActive
}

// Terminate asks a process that is not ours to end. Windows has no such way.
func Terminate(int) error { return errors.ErrUnsupported }

// startTime returns when the process started, in a unit of the platform that is good only for comparing.
// Together with pid it identifies a process until the next boot.
func startTime(pid int) (int64, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0, err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, err
	}
	return created.Nanoseconds(), nil
}

// group is the Job Object of one child. Windows ends all processes in it when its last handle closes, which
// happens whenever this process ends.
type group struct {
	pgid   int // the child's process id, since Windows has no process groups
	job    windows.Handle
	reaped atomic.Bool
}

// prepare hides the console window and runs batch files through cmd.exe.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP}
	switch strings.ToLower(filepath.Ext(cmd.Path)) {
	case ".bat", ".cmd":
		cmd.SysProcAttr.CmdLine = batchLine(cmd.Path, cmd.Args[1:])
		cmd.Path = filepath.Join(systemDir(cmd.Env), "cmd.exe")
	}
}

func systemDir(env []string) string {
	if dir, err := windows.GetSystemDirectory(); err == nil {
		return dir
	}
	return filepath.Join(lookup(env, "SYSTEMROOT"), "System32")
}

func newGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateJobObject", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, os.NewSyscallError("SetInformationJobObject", err)
	}
	g := &group{pgid: cmd.Process.Pid, job: job}
	assign := func(h uintptr) { err = windows.AssignProcessToJobObject(job, windows.Handle(h)) }
	// A child that has already ended cannot join a job and does not need one.
	if failed := cmd.Process.WithHandle(assign); failed == nil && err != nil && Alive(g.pgid) {
		_ = windows.CloseHandle(job)
		return nil, os.NewSyscallError("AssignProcessToJobObject", err)
	}
	return g, nil
}

// terminate does nothing: Windows has no signal to ask a program without a window to end.
func (g *group) terminate() {}

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// jobAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type jobAccounting struct {
	TotalUserTime, TotalKernelTime, ThisPeriodUserTime, ThisPeriodKernelTime int64

	PageFaults, TotalProcesses, ActiveProcesses, TerminatedProcesses uint32
}

func (g *group) alive() bool {
	var acc jobAccounting
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&acc)), uint32(unsafe.Sizeof(acc)), nil)
	return err == nil && acc.ActiveProcesses > 0
}

func (g *group) close() { _ = windows.CloseHandle(g.job) }

// The group functions below take the number of a group's leader and look at that process only: the Job Object ended the
// rest of the group when its gateway died.

func groupAlive(pid int) bool { return Alive(pid) }

func terminateGroup(int) {}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

func bootID() string { return "" }

func signalName(sig syscall.Signal) string { return sig.String() }

// processorTime returns the processor time this program has used, user and system.
func processorTime() (time.Duration, bool) {
	var begun, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &begun, &ended, &kernel, &user); err != nil {
		return 0, false
	}
	return ticks(kernel) + ticks(user), true
}

// ticks converts a length of time in units of 100 ns.
func ticks(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32+int64(t.LowDateTime)) * 100
}

// needsReaper says whether this platform needs a [Reaper].
const needsReaper = false

// detach does nothing: Windows has no sessions in the sense of Unix.
func detach(*exec.Cmd) {}

// executable returns path, or else path with the first extension in PATHEXT for which a file exists.
func executable(path string, env []string) (string, error) {
	exts := filepath.SplitList(cmp.Or(lookup(env, "PATHEXT"), ".COM;.EXE;.BAT;.CMD"))
	if has := filepath.Ext(path); has != "" {
		for _, ext := range exts {
			if strings.EqualFold(ext, has) {
				exts = append([]string{""}, exts...)
				break
			}
		}
	}
	for _, ext := range exts {
		if info, err := os.Stat(path + ext); err == nil && !info.IsDir() {
			return path + ext, nil
		}
	}
	return "", &fs.PathError{Op: "find", Path: path, Err: fs.ErrNotExist}
}

// sameEnvName reports whether two names mean the same environment variable.
func sameEnvName(a, b string) bool { return strings.EqualFold(a, b) }
