package hosts_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/source/upstream/hosts"
)

// Any text can be restored from any other with its Undo.
func TestUndo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"中", "\xe4", "a", "\n", "{}", ""})
		texts := rapid.Custom(func(t *rapid.T) []byte {
			return bytes.Join([][]byte{[]byte(piece.Draw(t, "1")), []byte(piece.Draw(t, "2")), []byte(piece.Draw(t, "3")), []byte(piece.Draw(t, "4"))}, nil)
		})
		before, after := texts.Draw(t, "before"), texts.Draw(t, "after")
		if before == nil {
			before = []byte{}
		}
		raw, err := json.Marshal(hosts.UndoOf(before, after))
		if err != nil {
			t.Fatal(err)
		}
		var undo hosts.Undo
		if err := json.Unmarshal(raw, &undo); err != nil {
			t.Fatal(err)
		}
		if got, err := undo.Apply(after); err != nil || !bytes.Equal(got, before) {
			t.Fatalf("%q from %q is %q, %v", before, after, got, err)
		}
	})
	for _, undo := range []hosts.Undo{{At: -1}, {At: 4}, {Remove: 4}, {At: 3, Remove: 1}, {Remove: -1}} {
		if got, err := undo.Apply([]byte("abc")); err == nil {
			t.Errorf("%+v gives %q", undo, got)
		}
	}
}

// A table that is replaced takes no comment with it that stands below its last line.
func TestReplacedTableLeavesCommentsBelow(t *testing.T) {
	t.Parallel()
	const work = "# about work\n\n# and its key\n[mcp_servers.work]\ncommand = \"w\" # here\n"
	file := writeNewFile(t, "# top\n[mcp_servers.collie]\ncommand = \"other\"\n\n"+work+"\n[mcp_servers.collie.env]\nA = \"1\"\n# at the end\n")
	connectClient(t, hostNamed(t, "codex"), file, true)
	want := "# top\n\n" + work + "\n# at the end\n\n[mcp_servers.collie]\ncommand = \"/usr/local/bin/collie\"\nargs = [\"stdio\"]\n"
	if diff := cmp.Diff(want, readFile(t, file)); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
}

// Tables of TOML are removed together with their comments and sub-tables, and restored as they were written.
func TestTakeTables(t *testing.T) {
	t.Parallel()
	const mine = "[mcp_servers.\"a b\"] # 文档\ncommand = 'x'\n\n[mcp_servers.\"a b\".env]\n# one\nA = \"1\"\n"
	const rest = "# top\nmodel = \"m\"\n\n# of others\n[other]\nk = \"[mcp_servers.x]\"\n"
	h := hostNamed(t, "codex")
	file := writeNewFile(t, "# top\nmodel = \"m\"\n\n"+mine+"\n# of others\n[other]\nk = \"[mcp_servers.x]\"\n")
	plan, err := h.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	path := []string{"mcp_servers", "a b"}
	piece, err := plan.Remove(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hosts.Piece{Path: path, Source: mine}, piece); diff != "" {
		t.Errorf("the piece (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(rest, string(plan.Text())); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
	if ok, err := plan.Put(piece); !ok || err != nil || string(plan.Text()) != rest+"\n"+mine {
		t.Errorf("put back: %t, %v: %s", ok, err, plan.Text())
	}
	if ok, err := plan.Put(piece); ok || err != nil {
		t.Errorf("a second time: %t, %v", ok, err)
	}
	for _, text := range []string{
		"[mcp_servers]\nx = { command = \"y\" }\n",
		"note = \"\"\"\n[mcp_servers.x]\n\"\"\"\n",
		"mcp_servers.x.command = \"y\"\n",
	} {
		plan, err := h.Open(writeNewFile(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Remove([]string{"mcp_servers", "x"}); err == nil || string(plan.Text()) != text {
			t.Errorf("%q: %v: %s", text, err, plan.Text())
		}
	}
}
