package acceptance_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/await"
)

// countAppends counts the requests to append a block.
func (w *world) countAppends() int {
	n := 0
	for _, c := range w.Writes() {
		if c.Path == "/api/block/appendBlock" {
			n++
		}
	}
	return n
}

// appendArgs are the arguments that append data to the plan under a request id.
func (w *world) appendArgs(data, id string) string {
	return fmt.Sprintf(`{"action":"append","dataType":"markdown","data":%q,"parentID":%q,"requestId":%q}`, data, w.plan, id)
}

// TestLostResponse has the kernel write and hang up without an answer: the outcome is unknown, and the same request does
// not write a second time, neither through the gateway nor on the command line of the same home.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			home := t.TempDir()
			g := w.ServeIn(t, home, w.settings, "--no-auth")
			v := openSession(t, g, version, nobody)
			w.Fail("/api/block/appendBlock", 1, kerneltest.FailLost)
			args := w.appendArgs("lost and found", "request-0001")
			lost := v.wantRefused(t, "block", args, "outcome_unknown")
			wantWords(t, "the error", lost.text, "request-0001", "read")
			v.wantRefused(t, "block", args, "outcome_unknown")

			// The command line of the same home knows the unfinished write too.
			w.runCLIIn(t, home, nil, "--config", w.settings, "call", "block", "append", "--args", strings.Replace(args, `"action":"append",`, "", 1)).wantCode(t, 1)
			if n := w.countAppends(); n != 1 {
				t.Errorf("%d writes, want 1", n)
			}
			if got := v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`).Get("content").String(); strings.Count(got, "lost and found") != 1 {
				t.Errorf("the document: %s", got)
			}
		})
	}
}

// TestLostResponseOnTheCommandLine is the same where the command line makes the write.
func TestLostResponseOnTheCommandLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := t.TempDir()
	args := []string{"--config", w.settings, "block", "append", "--data-type", "markdown", "--data", "x", "--parent-id", w.plan, "--request-id", "request-0002"}
	w.Fail("/api/block/appendBlock", 1, kerneltest.FailLost)
	for range 2 {
		got := w.runCLIIn(t, home, nil, args...)
		got.wantCode(t, 1)
		wantWords(t, "stderr", got.errs, "outcome_unknown")
	}
	if n := w.countAppends(); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
}

// TestKilledWhileWriting kills the gateway while the kernel works on a write. The gateway that is started next knows the write:
// the same request does not run again, and the list of writes shows it as one that began and did not end.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := t.TempDir()
	g := w.ServeIn(t, home, w.settings, "--no-auth")
	v := openSession(t, g, legacy, nobody)
	w.Fail("/api/block/appendBlock", 1, kerneltest.FailHang)
	args := w.appendArgs("cut off", "request-0006")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = v.CallTool(t.Context(), &mcp.CallToolParams{Name: "block", Arguments: json.RawMessage(args)}) // its gateway dies
	}()
	await.Until(t, "the kernel has the write", func() bool { return w.countAppends() == 1 })
	g.Signal(syscall.SIGKILL)
	if !g.AwaitExit(waitLimit) {
		t.Fatal("the gateway outlives SIGKILL")
	}
	<-ended

	again := openSession(t, w.ServeIn(t, home, w.settings, "--no-auth"), modern, nobody)
	again.wantRefused(t, "block", args, "outcome_unknown")
	if n := w.countAppends(); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
	list := w.runCLIIn(t, home, nil, "--config", w.settings, "siyuan", "undo", "--json")
	list.wantCode(t, 0)
	wantWords(t, "the list of writes", list.out, "request-0006", "executing")
}

// TestReplay repeats a request that was answered, and then uses its request id for another request.
func TestReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	first := openSession(t, g, legacy, nobody).mustCall(t, "block", w.appendArgs("once", "request-0003"))
	v := openSession(t, g, modern, nobody)
	again := v.mustCall(t, "block", w.appendArgs("once", "request-0003"))
	if !again.Get("replayed").Bool() || again.Get("id").String() != first.Get("id").String() {
		t.Errorf("first %s, again %s", first.text, again.text)
	}
	conflict := v.wantRefused(t, "block", w.appendArgs("twice", "request-0003"), "state_changed")
	if got := conflict.Get("error.code").String(); got != "idempotency_conflict" {
		t.Errorf("code %q", got)
	}
	if n := w.countAppends(); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
}

// TestChangedState writes with the hash of an outdated state in ifMatch: nothing is written.
func TestChangedState(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, version string) {
		w := newWorld(t)
		v := openSession(t, w.serve(t), version, nobody)
		w.Doc(w.work, "/State", "before")
		const path = "/Work/State"
		hash := v.mustCall(t, "fs", fmt.Sprintf(`{"action":"read","path":%q}`, path)).Get("stateHash").String()
		if hash == "" {
			t.Fatal("a read returns no stateHash")
		}
		replace := func(old, new, hash string) string {
			return fmt.Sprintf(`{"action":"replace","path":%q,"edit":{"old":%q,"new":%q},"ifMatch":%q}`, path, old, new, hash)
		}
		v.mustCall(t, "fs", replace("before", "between", hash))
		w.ResetCalls()
		v.wantRefused(t, "fs", replace("between", "after", hash), "state_changed")
		w.wantNoWrites(t)
		now := v.mustCall(t, "fs", fmt.Sprintf(`{"action":"read","path":%q}`, path)).Get("stateHash").String()
		v.mustCall(t, "fs", replace("between", "after", now))
	})
}

// TestUndo takes a write back, as a person does.
func TestUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := t.TempDir()
	g := w.ServeIn(t, home, w.settings, "--no-auth")
	v := openSession(t, g, modern, nobody)
	v.mustCall(t, "fs", `{"action":"replace","path":"/Work/Plan","edit":{"old":"tea","new":"coffee"},"requestId":"request-0004"}`)
	w.runCLIIn(t, home, nil, "--config", w.settings, "siyuan", "undo", "request-0004", "--yes").wantCode(t, 0)
	if got := v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`).Get("content").String(); !strings.Contains(got, "The first goal is tea.") {
		t.Errorf("after the undo: %s", got)
	}
}

// TestStrictMode needs two calls for a write: one that looks, one that writes.
func TestStrictMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"writeSafety":"strict"`)
	v := openSession(t, w.serve(t), legacy, nobody)
	const change = `{"action":"replace","path":"/Work/Plan","edit":{"old":"tea","new":"coffee"}`
	v.wantRefused(t, "fs", change+`}`, "write_safety_error")
	look := v.mustCall(t, "fs", change+`,"validateOnly":true}`)
	w.wantNoWrites(t)
	hash := look.Get("expectedHash").String()
	if hash == "" || look.Get("preconditionField").String() != "expectedHash" {
		t.Fatalf("no hash: %s", look.text)
	}
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	v.mustCall(t, "fs", change+`,"requestId":"`+id.String()+`","expectedHash":"`+hash+`"}`)
	if got := endpointsOf(w.Writes()); !slices.Equal(got, []string{"block/updateBlock"}) {
		t.Errorf("writes %v", got)
	}
}
