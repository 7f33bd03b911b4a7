package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is the Job Object of one child. Windows ends everything in it when the last
// handle closes, which it does when this process ends in whatever way.
type group struct {
	pgid   int // the child's process id
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
	// A child that has ended meanwhile can join no job and needs none.
	if failed := cmd.Process.WithHandle(assign); failed == nil && err != nil && Alive(g.pgid) {
		_ = windows.CloseHandle(job)
		return nil, os.NewSyscallError("AssignProcessToJobObject", err)
	}
	return g, nil
}

// terminate does nothing: a program without a window cannot be asked.
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

// What follows serves the ledger and knows only the leader: the job ended the rest when
// its gateway died.

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
