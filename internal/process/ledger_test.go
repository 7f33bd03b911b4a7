//go:build unix

package process_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/atomicfile"
	"collie/internal/process"
	"collie/test/await"
)

// ledgerFile is the content of the ledger's file.
type ledgerFile struct {
	Version  int             `json:"version"`
	Children []process.Child `json:"children"`
}

// newLedger returns a ledger in a folder of its own, and its file.
func newLedger(t *testing.T) (*process.Ledger, atomicfile.File) {
	t.Helper()
	f := atomicfile.File{Path: filepath.Join(t.TempDir(), "run", "children.json"), NoSync: true}
	l := process.OpenLedger(f, nil)
	t.Cleanup(func() { _ = l.Close() })
	return l, f
}

// readLedger returns the children that the ledger's file lists.
func readLedger(t *testing.T, f atomicfile.File) []process.Child {
	t.Helper()
	data, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	var file ledgerFile
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if file.Version != 1 || file.Children == nil {
		t.Errorf("file = %s", data)
	}
	return file.Children
}

// writeLedger writes a ledger's file, as an earlier gateway would have left it.
func writeLedger(t *testing.T, f atomicfile.File, children ...process.Child) {
	t.Helper()
	data, err := json.Marshal(ledgerFile{Version: 1, Children: children})
	if err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteNoSync(f.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// startTimeOf returns the start time of a process.
func startTimeOf(t *testing.T, pid int) int64 {
	t.Helper()
	start, err := process.StartTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	return start
}

// thisGateway returns how a ledger of this process identifies its gateway, read from an entry it writes.
func thisGateway(t *testing.T) process.Gateway {
	t.Helper()
	l, f := newLedger(t)
	l.Add(process.Child{Pid: 1})
	_ = l.Close()
	return readLedger(t, f)[0].Gateway
}

// A child is in the file while it runs, with what identifies it and this gateway.
func TestLedgerFollowsAChild(t *testing.T) {
	t.Parallel()
	l, f := newLedger(t)
	p := mustStart(t, roleCommand("deaf"), &process.Options{Ledger: l, Ladder: quick})
	await.Until(t, "child on record", func() bool { _, err := os.Stat(f.Path); return err == nil })
	got := readLedger(t, f)
	want := []process.Child{{
		Label: "deaf", Pid: p.Pid(), Pgid: p.Pid(), StartTime: startTimeOf(t, p.Pid()), Gateway: thisGateway(t),
	}}
	if len(got) == 1 {
		want[0].CommandHash = got[0].CommandHash
		if len(got[0].CommandHash) != 64 {
			t.Errorf("command hash = %q", got[0].CommandHash)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got[0].Gateway.Pid != os.Getpid() || got[0].Gateway.StartTime != startTimeOf(t, os.Getpid()) {
		t.Errorf("gateway = %+v", got[0].Gateway)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if got := readLedger(t, f); len(got) != 0 {
		t.Errorf("after Stop: %+v", got)
	}
}

// Entries of other gateways stay while this one adds and removes its own.
func TestLedgerLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	l, f := newLedger(t)
	other := process.Child{Label: "theirs", Pid: 4, Pgid: 4, Gateway: process.Gateway{Pid: 2, StartTime: 1}}
	writeLedger(t, f, other)
	for pid := range 50 {
		l.Add(process.Child{Pid: 100 + pid})
	}
	for pid := range 49 {
		l.Remove(100 + pid)
	}
	_ = l.Close()
	got := readLedger(t, f)
	if diff := cmp.Diff([]process.Child{other, {Pid: 149, Gateway: thisGateway(t)}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLedgerStartsAnewWhenUnreadable(t *testing.T) {
	t.Parallel()
	l, f := newLedger(t)
	if err := atomicfile.WriteNoSync(f.Path, []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ended, err := l.Sweep(t.Context()); err != nil || len(ended) != 0 {
		t.Errorf("Sweep = %v, %v", ended, err)
	}
	l.Add(process.Child{Pid: 7})
	_ = l.Close()
	if got := readLedger(t, f); len(got) != 1 || got[0].Pid != 7 {
		t.Errorf("children = %+v", got)
	}
}

// Sweep ends the children of a gateway that has gone, with their whole process groups. It ends no process whose
// entry does not fit it exactly, and no child of a living gateway. Only children of living gateways stay in the
// file.
func TestSweep(t *testing.T) {
	t.Parallel()
	l, f := newLedger(t)
	here := thisGateway(t)
	gone := here
	gone.StartTime-- // our pid, but as an earlier process had it

	orphan := mustStart(t, wrappedRole("stubborn"), nil)
	inner := readPID(t, orphan)
	reused, kept, rebooted := mustStart(t, roleCommand("deaf"), nil), mustStart(t, roleCommand("deaf"), nil), mustStart(t, roleCommand("deaf"), nil)
	line := func(p *process.Process, g process.Gateway) process.Child {
		return process.Child{Pid: p.Pid(), Pgid: p.Pid(), StartTime: startTimeOf(t, p.Pid()), Gateway: g}
	}
	lie := line(reused, gone)
	lie.StartTime++
	unknown := line(reused, gone)
	unknown.StartTime = 0
	foreign := line(reused, gone)
	foreign.Pgid = kept.Pid()
	old := line(rebooted, gone)
	old.Gateway.Boot = "another boot"
	alive := line(kept, process.Gateway{Pid: os.Getppid(), StartTime: startTimeOf(t, os.Getppid()), Boot: here.Boot})
	dead := process.Child{Pid: 1 << 22, Pgid: 1 << 22, StartTime: 5, Gateway: gone}
	found := line(orphan, gone)
	writeLedger(t, f, lie, found, unknown, foreign, old, alive, dead)

	ended, err := l.Sweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]process.Child{found}, ended); diff != "" {
		t.Errorf("ended: (-want +got)\n%s", diff)
	}
	if process.Alive(orphan.Pid()) || process.Alive(inner) {
		t.Errorf("orphan alive %v, its grandchild alive %v", process.Alive(orphan.Pid()), process.Alive(inner))
	}
	for name, p := range map[string]*process.Process{"reused number": reused, "child of a living gateway": kept, "earlier boot": rebooted} {
		if !process.Alive(p.Pid()) {
			t.Errorf("%s: ended", name)
		}
	}
	if diff := cmp.Diff([]process.Child{alive}, readLedger(t, f)); diff != "" {
		t.Errorf("left on record: (-want +got)\n%s", diff)
	}
}

func TestSweepOfNothingWritesNothing(t *testing.T) {
	t.Parallel()
	l, f := newLedger(t)
	if ended, err := l.Sweep(t.Context()); err != nil || len(ended) != 0 {
		t.Errorf("Sweep = %v, %v", ended, err)
	}
	if _, err := os.Stat(f.Path); err == nil {
		t.Error("an empty ledger was written")
	}
}
