//go:build linux

package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/fstest"
)

// The name of a process may itself contain spaces and parentheses.
func TestParseStat(t *testing.T) {
	t.Parallel()
	const tail = " S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3"
	for _, name := range []string{"sh", "a b", "x) R 1 (y", ""} {
		got, err := parseStat([]byte("42 (" + name + ")" + tail))
		if want := (procState{pgid: 42, start: 987654}); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", name, got, err, want)
		}
	}
	for threads, zombie := range map[string]bool{"0": true, "1": true, "2": false} { // of two the main thread alone has ended
		got, err := parseStat([]byte("42 (sh) Z 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 " + threads + " 0 987654"))
		if err != nil || got.zombie != zombie {
			t.Errorf("state Z with %s threads: %+v, %v", threads, got, err)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sh) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654"))
	f.Add([]byte(")"))
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = parseStat(data) })
}

// The count of out-of-memory kills is read from the memory control group, of version 1 or 2. It is -1 if there is
// none.
func TestCountOOM(t *testing.T) {
	t.Parallel()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for name, tt := range map[string]struct {
		fs   fstest.MapFS
		want int64
	}{
		"none":        {fstest.MapFS{}, -1},
		"no counter":  {fstest.MapFS{"proc/self/cgroup": file("0::/\n")}, -1},
		"version 2":   {fstest.MapFS{"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.events": file("oom 9\noom_kill 2\noom_group_kill 1\n")}, 2},
		"container":   {fstest.MapFS{"proc/self/cgroup": file("0::/docker/x\n"), "sys/fs/cgroup/memory.events": file("oom_kill 3\n")}, 3},
		"version 1":   {fstest.MapFS{"proc/self/cgroup": file("3:cpu:/c\n4:memory:/m\n"), "sys/fs/cgroup/memory/m/memory.oom_control": file("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n")}, 4},
		"not our own": {fstest.MapFS{"proc/self/cgroup": file("3:cpu:/c\n"), "sys/fs/cgroup/cpu/c/memory.events": file("oom_kill 5\n")}, -1},
	} {
		if got := countOOM(tt.fs); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// Once the leader is reaped and the group empty, its number may be reused for another group.
func TestGroupNumberUsedAgain(t *testing.T) {
	t.Parallel()
	cmd := &exec.Cmd{Path: os.Args[0], Env: []string{"ROLE=deaf"}, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Wait() })
	g := &group{pgid: cmd.Process.Pid}
	g.reaped.Store(true) // g now takes this process for one that reuses the number
	g.terminate()
	g.kill()
	if g.alive() || !Alive(cmd.Process.Pid) {
		t.Errorf("group alive %v, other process alive %v, want false, true", g.alive(), Alive(cmd.Process.Pid))
	}
	g.reaped.Store(false)
	g.kill()
}

func TestNumbersThatAreNoGroup(t *testing.T) {
	t.Parallel()
	for _, pgid := range []int{-1, 0, 1} {
		if groupAlive(pgid) {
			t.Errorf("group %d is alive", pgid)
		}
	}
	signalGroup(0, syscall.SIGKILL) // 0 would mean this test's own group, 1 everything
}
