package siyuan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// memoryFixture is a source whose models have kept something in /AGENTS.md.
type memoryFixture struct {
	*kerneltest.Kernel
	source *siyuan.Source
	writes *safety.Coordinator
}

func newMemoryFixture(t *testing.T, memory string) *memoryFixture {
	t.Helper()
	d := &memoryFixture{Kernel: kerneltest.New(t), writes: safety.Open(safety.Options{Dir: t.TempDir()})}
	client := kernel.New(d.URL(), kernel.Options{Token: "TEST_TOKEN"})
	t.Cleanup(client.Close)
	d.source = siyuan.New(siyuan.Options{Kernel: client, Safety: d.writes})
	t.Cleanup(d.source.Close)
	d.setMemory(memory)
	d.bind(t, "read", `{"path":"/AGENTS.md"}`) // so that the source knows the config
	return d
}

// setMemory writes the memory as another program does, which the source does not notice.
func (d *memoryFixture) setMemory(text string) {
	d.File("/data/storage/petal/collie/mcpToolsConfig", fmt.Appendf(nil, `{"agentSiyuanMemoryText":%q}`, text))
}

// memory returns the memory that is stored.
func (d *memoryFixture) memory(t *testing.T) string {
	t.Helper()
	raw, err := d.source.Switches().Raw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, _ := raw["agentSiyuanMemoryText"].(string)
	return text
}

// bind prepares a call of the tool fs.
func (d *memoryFixture) bind(t *testing.T, name, args string) tool.Bound {
	t.Helper()
	b, err := d.source.Bind(t.Context(), &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Origin: tool.MCPLocal},
		Tool:    "fs", Action: &tool.Action{Name: name}, Args: json.RawMessage(args),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// do runs a call of the tool fs, and returns its structured result.
func (d *memoryFixture) do(t *testing.T, name, args string) (gjson.Result, error) {
	t.Helper()
	res, err := d.bind(t, name, args).Run(t.Context())
	return gjson.GetBytes(res.Raw, "structuredContent"), err
}

// TestMemoryKeepsWhatOthersWrote: a write to /AGENTS.md starts from what is stored, and not from what was read a while ago.
func TestMemoryKeepsWhatOthersWrote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action, args, want string
		kind               tool.ErrorKind
	}{
		"replace":   {"replace", `{"path":"/AGENTS.md","edit":{"old":"a","new":"A"}}`, "A\nb\nc", ""},
		"its text":  {"replace", `{"path":"/AGENTS.md","edit":{"old":"c","new":"C"}}`, "a\nb\nC", ""},
		"not there": {"replace", `{"path":"/AGENTS.md","edit":{"old":"x","new":"X"}}`, "a\nb\nc", tool.NotFound},
		"write":     {"write", `{"path":"/AGENTS.md","markdown":"mine"}`, "a\nb\nc", tool.Exists},
		"overwrite": {"write", `{"path":"/AGENTS.md","markdown":"mine","overwrite":true}`, "mine", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := "a\nb"
			if c.action == "write" {
				before = ""
			}
			d := newMemoryFixture(t, before)
			d.setMemory("a\nb\nc")
			got, err := d.do(t, c.action, c.args)
			if (err != nil) != (c.kind != "") || err != nil && tool.KindOf(err) != c.kind {
				t.Fatalf("got %v, want %q", err, c.kind)
			}
			if text := d.memory(t); text != c.want {
				t.Errorf("the memory is %q, want %q", text, c.want)
			}
			if name == "overwrite" && !got.Get("overwritten").Bool() {
				t.Errorf("it does not say that it overwrote something: %s", got.Raw)
			}
		})
	}
}

func TestMemoryTakesBothOfTwoEdits(t *testing.T) {
	t.Parallel()
	d := newMemoryFixture(t, "a\nb")
	first := d.bind(t, "replace", `{"path":"/AGENTS.md","edit":{"old":"a","new":"A"}}`)
	second := d.bind(t, "replace", `{"path":"/AGENTS.md","edit":{"old":"b","new":"B"}}`)
	for _, b := range []tool.Bound{first, second} {
		if _, err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if text := d.memory(t); text != "A\nB" {
		t.Errorf("the memory is %q, want both edits", text)
	}
}

// TestMemoryIsGuarded: the hash that guards a write to /AGENTS.md is one of its text.
func TestMemoryIsGuarded(t *testing.T) {
	t.Parallel()
	d := newMemoryFixture(t, "a\nb")
	const edit = `"path":"/AGENTS.md","edit":{"old":"a","new":"A"}`
	seen, err := d.do(t, "replace", `{`+edit+`,"validateOnly":true}`)
	hash := seen.Get("expectedHash").String()
	if err != nil || hash == "" {
		t.Fatalf("got %s, %v", seen.Raw, err)
	}
	d.setMemory("a\nc")
	_, err = d.do(t, "replace", fmt.Sprintf(`{%s,"expectedHash":%q}`, edit, hash))
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != "state_changed" {
		t.Errorf("got %v, want state_changed", err)
	}
	if text := d.memory(t); text != "a\nc" {
		t.Errorf("the memory is %q", text)
	}
	d.setMemory("a\nb")
	done, err := d.do(t, "replace", fmt.Sprintf(`{%s,"expectedHash":%q}`, edit, hash))
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.writes.Get(done.Get("requestId").String())
	if err != nil || e.CanUndo() || strings.Contains(e.NoUndo, "overwrote nothing") {
		t.Errorf("entry %+v, %v: it has overwritten a text", e, err)
	}
}
