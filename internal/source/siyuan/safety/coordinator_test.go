package safety_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/block"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// writeFixture is a document of three paragraphs and a coordinator of its workspace.
type writeFixture struct {
	*actiontest.Kit
	writes *safety.Coordinator
	doc    string
	blocks []kernel.Block
}

func newWriteFixture(t *testing.T, mode safety.Mode) *writeFixture {
	t.Helper()
	b := &writeFixture{Kit: actiontest.New(t), writes: safety.Open(safety.Options{Dir: t.TempDir(), Mode: mode})}
	nb := b.Notebook("Notes")
	b.doc = b.Doc(nb, "/Plan", "first 第一\n\nsecond\n\nthird")
	var err error
	if b.blocks, err = b.Client.ChildBlocks(t.Context(), kernel.ID(b.doc)); err != nil || len(b.blocks) != 3 {
		t.Fatalf("blocks %v, %v", b.blocks, err)
	}
	b.ResetCalls()
	return b
}

func findBlockAction(t *testing.T, name string) *action.Action {
	t.Helper()
	for _, a := range block.Tool().Actions {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("block has no action %s", name)
	return nil
}

// runBlockAction runs an action of the tool block with the rules of safe writing.
func (b *writeFixture) runBlockAction(t *testing.T, name, args string) (gjson.Result, error) {
	t.Helper()
	r := b.Request(t, findBlockAction(t, name), args)
	if err := r.Check(t.Context()); err != nil {
		return gjson.Result{}, err
	}
	raw, err := b.writes.Do(t.Context(), r)
	return gjson.ParseBytes(raw), err
}

// updateBlock updates the paragraph with index n. more holds further arguments, as JSON members after a comma.
func (b *writeFixture) updateBlock(t *testing.T, n int, text, more string) (gjson.Result, error) {
	t.Helper()
	return b.runBlockAction(t, "update", fmt.Sprintf(`{"id":%q,"dataType":"markdown","data":%q%s}`, b.blocks[n].ID, text, more))
}

// documentText returns the Markdown of the document's blocks, joined with |.
func (b *writeFixture) documentText(t *testing.T) string {
	t.Helper()
	list, err := b.Client.ChildBlocks(t.Context(), kernel.ID(b.doc))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range list {
		lines = append(lines, c.Markdown)
	}
	return strings.Join(lines, "|")
}

// countUpdates returns how many requests have updated blocks.
func (b *writeFixture) countUpdates() int {
	n := 0
	for _, c := range b.Writes() {
		if c.Path == "/api/block/updateBlock" || c.Path == "/api/block/batchUpdateBlock" {
			n++
		}
	}
	return n
}

// wantCode fails unless err is a tool.Error of that kind and code.
func wantCode(t *testing.T, err error, kind tool.ErrorKind, code string) {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != kind || e.Code != code {
		t.Fatalf("got %v, want kind %s, code %q", err, kind, code)
	}
}

// newRequestID returns a request id as callers choose it, a UUIDv7.
func newRequestID(t *testing.T) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

func TestWriteIsRecorded(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	got, err := b.updateBlock(t, 0, "changed", "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := b.writes.Get(got.Get("requestId").String())
	if err != nil || e.State != safety.Committed || !e.CanUndo() || e.Tool != "block" || e.Action != "update" {
		t.Fatalf("entry %+v, %v", e, err)
	}
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), `"data":"changed"`) {
		t.Errorf("the entry holds the arguments: %s", raw)
	}
}

func TestIfMatch(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	read, err := b.runBlockAction(t, "get_kramdown", fmt.Sprintf(`{"id":%q}`, b.blocks[0].ID))
	if err != nil {
		t.Fatal(err)
	}
	hash := read.Get("stateHash").String()
	match := fmt.Sprintf(`,"ifMatch":%q`, hash)
	if _, err := b.updateBlock(t, 0, "by me", match); err != nil {
		t.Fatalf("with the hash of a read a moment ago: %v", err)
	}
	b.ResetCalls()
	_, err = b.updateBlock(t, 0, "by me again", match)
	wantCode(t, err, tool.StateChanged, "state_changed")
	if n := len(b.Writes()); n != 0 {
		t.Errorf("%d writes although the state had changed: %v", n, b.Writes())
	}
	_, err = b.updateBlock(t, 0, "x", `,"ifMatch":"nonsense"`)
	wantCode(t, err, tool.Conflict+"/write_safety_error", "ambiguous_hash_prefix")
}

func TestSameRequestRunsOnce(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	id := fmt.Sprintf(`,"requestId":%q`, newRequestID(t))
	first, err := b.updateBlock(t, 0, "once", id)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.updateBlock(t, 0, "once", id)
	if err != nil || !again.Get("replayed").Bool() || again.Get("id").String() != first.Get("id").String() {
		t.Fatalf("again: %s, %v", again.Raw, err)
	}
	if n := b.countUpdates(); n != 1 {
		t.Errorf("%d updates, want 1", n)
	}
	_, err = b.updateBlock(t, 0, "something else", id)
	wantCode(t, err, tool.StateChanged, "idempotency_conflict")
}

// TestLostAnswer: the kernel does the write and its answer is lost.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	parent := fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"appended","requestId":%q}`, b.doc, newRequestID(t))
	b.Fail("/api/block/appendBlock", 1, kerneltest.FailLost)
	_, err := b.runBlockAction(t, "append", parent)
	if tool.KindOf(err) != kernel.OutcomeUnknown {
		t.Fatalf("got %v, want %s", err, kernel.OutcomeUnknown)
	}
	if _, err := b.runBlockAction(t, "append", parent); tool.KindOf(err) != kernel.OutcomeUnknown {
		t.Fatalf("the same request again: got %v, want %s", err, kernel.OutcomeUnknown)
	}
	if got := strings.Count(b.documentText(t), "appended"); got != 1 {
		t.Errorf("appended %d times: %s", got, b.documentText(t))
	}
}

// TestReadBackFails: the kernel accepts the write of an action, and the action cannot read it back. The error says that the
// outcome is unknown, and the same request again does not write twice.
func TestReadBackFails(t *testing.T) {
	t.Parallel()
	for _, mode := range []safety.Mode{safety.Off, safety.Auto} {
		for name, fault := range map[string]kerneltest.Mode{"no answer": kerneltest.FailClose, "an error": kerneltest.FailMessage("no")} {
			t.Run(string(mode)+" "+name, func(t *testing.T) {
				t.Parallel()
				b := newWriteFixture(t, mode)
				appendAndRead := action.New(action.Spec{
					Tool: "block", Name: "append", Purpose: "Append and read back", Class: action.Creates,
					Risk: tool.RiskLow, Effects: tool.EffectWrite, Unguarded: "a test", Example: `{}`, Result: struct{}{},
					Endpoints: []string{"block/appendBlock", "attr/getBlockAttrs"},
				}, func(ctx context.Context, r *action.Request, _ struct{}) (any, error) {
					if _, err := r.Kernel.Append(ctx, kernel.ID(b.doc), "markdown", "appended"); err != nil {
						return nil, err
					}
					b.Fail("/api/attr/getBlockAttrs", 9, fault)
					_, err := r.Kernel.Attrs(ctx, kernel.ID(b.doc))
					return nil, err
				})
				args := `{}`
				if mode != safety.Off {
					args = fmt.Sprintf(`{"requestId":%q}`, newRequestID(t))
				}
				for range 2 {
					_, err := b.writes.Do(t.Context(), b.Request(t, appendAndRead, args))
					e, ok := errors.AsType[*tool.Error](err)
					if !ok || e.Kind != kernel.OutcomeUnknown || !e.OutcomeUnknown || e.Hint == "" {
						t.Errorf("got %v", err)
					}
					if mode == safety.Off {
						break
					}
				}
				if n := strings.Count(b.documentText(t), "appended"); n != 1 {
					t.Errorf("appended %d times", n)
				}
			})
		}
	}
}

// TestSecondWriteIsRefused: the kernel accepts the first write of an action and refuses the second. The error says that the
// outcome is unknown, the same request again does not write the first once more, and the record does not say that nothing was written.
func TestSecondWriteIsRefused(t *testing.T) {
	t.Parallel()
	partly := &tool.Error{Op: "append", Kind: kernel.Mismatch, Message: "appended one of two"}
	for name, own := range map[string]error{"the kernel's error": nil, "an error of the action": partly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWriteFixture(t, safety.Auto)
			appendTwice := action.New(action.Spec{
				Tool: "block", Name: "append", Purpose: "Append and prepend", Class: action.Creates,
				Risk: tool.RiskLow, Effects: tool.EffectWrite, Unguarded: "a test", Example: `{}`, Result: struct{}{},
				Endpoints: []string{"block/appendBlock", "block/prependBlock"},
			}, func(ctx context.Context, r *action.Request, _ struct{}) (any, error) {
				if _, err := r.Kernel.Append(ctx, kernel.ID(b.doc), "markdown", "appended"); err != nil {
					return nil, err
				}
				b.Fail("/api/block/prependBlock", 1, kerneltest.FailMessage("no"))
				_, err := r.Kernel.Prepend(ctx, kernel.ID(b.doc), "markdown", "prepended")
				if err == nil || own == nil {
					return nil, err
				}
				return nil, own
			})
			id := newRequestID(t)
			args := fmt.Sprintf(`{"requestId":%q}`, id)
			_, first := b.writes.Do(t.Context(), b.Request(t, appendTwice, args))
			if own == nil && tool.KindOf(first) != kernel.OutcomeUnknown || own != nil && !errors.Is(first, own) {
				t.Errorf("the first time: %v", first)
			}
			if _, err := b.writes.Do(t.Context(), b.Request(t, appendTwice, args)); tool.KindOf(err) != kernel.OutcomeUnknown {
				t.Errorf("the same request again: %v", err)
			}
			if n := strings.Count(b.documentText(t), "appended"); n != 1 {
				t.Errorf("appended %d times", n)
			}
			if e, err := b.writes.Get(id); err != nil || e.State != safety.Unknown || e.NoUndo == "nothing was written" {
				t.Errorf("the record is %+v, %v", e, err)
			}
		})
	}
}

func TestFailedWriteMayBeRepeated(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	id := fmt.Sprintf(`,"requestId":%q`, newRequestID(t))
	b.Fail("/api/block/updateBlock", 1, kerneltest.FailMessage("no"))
	if _, err := b.updateBlock(t, 0, "at last", id); err == nil {
		t.Fatal("a failed update succeeded")
	}
	if _, err := b.updateBlock(t, 0, "at last", id); err != nil {
		t.Fatalf("again: %v", err)
	}
}

func TestValidateOnlyWritesNothing(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	got, err := b.updateBlock(t, 0, "x", `,"validateOnly":true`)
	if err != nil || got.Get("writeAttempted").Bool() || !strings.HasPrefix(got.Get("expectedHash").String(), "sha256:v1:") {
		t.Fatalf("%s, %v", got.Raw, err)
	}
	if n := len(b.Writes()); n != 0 {
		t.Errorf("%d writes", n)
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Strict)
	_, err := b.updateBlock(t, 0, "x", "")
	wantCode(t, err, tool.Conflict+"/write_safety_error", "precondition_required")
	_, err = b.updateBlock(t, 0, "x", fmt.Sprintf(`,"requestId":%q`, newRequestID(t)))
	wantCode(t, err, tool.Conflict+"/write_safety_error", "precondition_required")
	_, err = b.updateBlock(t, 0, "x", `,"requestId":"f47ac10b-58cc-4372-a567-0e02b2c3d479","expectedHash":"00000000"`)
	wantCode(t, err, tool.Conflict+"/write_safety_error", "invalid_request_id")
	_, err = b.updateBlock(t, 0, "x", `,"requestId":"01890a5d-ac96-774b-bcce-b302099a8057","expectedHash":"00000000"`)
	wantCode(t, err, tool.Conflict+"/write_safety_error", "request_id_expired")
	if n := len(b.Writes()); n != 0 {
		t.Fatalf("%d writes before any was allowed", n)
	}
	preview, err := b.updateBlock(t, 0, "x", `,"validateOnly":true`)
	if err != nil {
		t.Fatal(err)
	}
	hash := preview.Get("expectedHash").String()
	got, err := b.updateBlock(t, 0, "x", fmt.Sprintf(`,"requestId":%q,"expectedHash":%q`, newRequestID(t), hash[:len("sha256:v1:")+8]))
	if err != nil || got.Get("safety.transactionState").String() != "committed" || got.Get("safety.previousHash").String() != hash {
		t.Fatalf("%s, %v", got.Raw, err)
	}
	_, err = b.updateBlock(t, 0, "y", fmt.Sprintf(`,"requestId":%q,"expectedHash":%q`, newRequestID(t), hash))
	wantCode(t, err, tool.StateChanged, "state_changed")
	if _, err := b.runBlockAction(t, "append", fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"new","requestId":%q}`, b.doc, newRequestID(t))); err != nil {
		t.Errorf("what only adds needs no hash: %v", err)
	}
}

func TestOffLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Off)
	got, err := b.updateBlock(t, 0, "x", "")
	if err != nil || got.Get("requestId").Exists() {
		t.Fatalf("%s, %v", got.Raw, err)
	}
	if list, err := b.writes.List(); err != nil || len(list) != 0 {
		t.Errorf("entries %v, %v", list, err)
	}
}

func TestParallelWritesToOneDocument(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = b.runBlockAction(t, "append", fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"line %d"}`, b.doc, i))
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := range errs {
		if !slices.Contains(strings.Split(b.documentText(t), "|"), fmt.Sprintf("line %d", i)) {
			t.Errorf("line %d is missing: %s", i, b.documentText(t))
		}
	}
	list, err := b.writes.List()
	if err != nil || len(list) != len(errs) {
		t.Errorf("%d entries, %v", len(list), err)
	}
}
