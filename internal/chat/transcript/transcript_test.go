package transcript_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/chat"
	"collie/internal/chat/transcript"
	"collie/internal/llm"
	"collie/internal/store"
	"collie/test/await"
)

func openService(t *testing.T) *chat.Service {
	t.Helper()
	s, err := store.Open(t.Context(), t.TempDir(), chat.Schema())
	if err != nil {
		t.Fatal(err)
	}
	c, err := chat.Open(t.Context(), s, chat.Options{Engine: func(context.Context, chat.Config, []llm.Part) (string, chat.Engine, error) {
		return "", nil, os.ErrInvalid
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close(context.WithoutCancel(t.Context()))
		_ = s.Close()
	})
	return c
}

// importedPath imports a document and returns the active path of the session, with the position of each message among its
// siblings.
func importedPath(t *testing.T, s *chat.Service, doc []byte) string {
	t.Helper()
	made, err := s.Import(t.Context(), bytes.NewReader(doc), nil)
	if err != nil {
		t.Fatalf("import: %v in %s", err, doc)
	}
	v, err := s.Get(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range v.Path {
		fmt.Fprintf(&b, "%s %d/%d %s\n", m.Role, m.Index+1, m.Of, m.Parts[0].Text)
	}
	return b.String()
}

// The exports of each program become sessions with all branches. The active path is the one that the program showed last.
func TestRead(t *testing.T) {
	t.Parallel()
	s := openService(t)
	for file, tt := range map[string]struct{ program, title, path, left string }{
		"chatgpt.json": {
			"ChatGPT", "Tea", "user 1/1 which tea?\nassistant 2/2 oolong\nuser 1/1 why?\nassistant 1/1 it is mild\n",
			`a message of role "tool",a picture or file`,
		},
		"librechat.json":      {"LibreChat", "Tea", "user 1/1 which tea?\nassistant 2/2 oolong\n", "a picture or file"},
		"librechat-flat.json": {"LibreChat", "Tea", "user 1/1 which tea?\nassistant 2/2 oolong\n", ""},
		"openwebui.json":      {"Open WebUI", "Tea", "user 1/1 which tea?\nassistant 1/2 green\n", "a message without text"},
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		program, all, notes, err := transcript.Read(raw)
		if err != nil || program != tt.program || len(all) != 1 || len(notes) > 0 {
			t.Fatalf("%s: %s, %d conversations, %v, %v", file, program, len(all), notes, err)
		}
		if got := importedPath(t, s, all[0].Document); got != tt.path || all[0].Title != tt.title || strings.Join(all[0].Left, ",") != tt.left {
			t.Errorf("%s: %q %q\n%s", file, all[0].Title, all[0].Left, got)
		}
	}
}

// An inconsistent export becomes a consistent session, and Left says what could not be converted.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := openService(t)
	webui := func(messages string) string {
		return `{"chat":{"title":"x","history":{"messages":{` + messages + `}}}}`
	}
	deep := strings.Builder{}
	for i := range 3_000 {
		fmt.Fprintf(&deep, `,"%d":{"parentId":"%d","role":"user","content":"x"}`, i+1, i)
	}
	for name, tt := range map[string]struct{ in, path, left string }{
		"a cycle":          {webui(`"a":{"parentId":"b","role":"user","content":"a"},"b":{"parentId":"a","role":"assistant","content":"b"},"c":{"role":"user","content":"c"}`), "user 1/1 c\n", "its own ancestor (2 times)"},
		"itself":           {webui(`"a":{"parentId":"a","role":"user","content":"a"},"c":{"role":"user","content":"c"}`), "user 1/1 c\n", "its own ancestor"},
		"a missing parent": {webui(`"a":{"parentId":"gone","role":"user","content":"a"}`), "user 1/1 a\n", "begins a branch"},
		"wrong types":      {webui(`"a":{"parentId":7,"role":["user"],"content":{"x":1}},"c":{"role":"user","content":"c","timestamp":"never"}`), "user 1/1 c\n", "role"},
		"NUL":              {webui(`"c":{"role":"user","content":"a\\u0000b"}`), "user 1/1 a\uFFFDb\n", ""},
		"too long":         {webui(`"c":{"role":"user","content":"` + strings.Repeat("x", 2<<20) + `"}`), "", "the end of a message"},
		"deep":             {webui(`"0":{"role":"user","content":"x"}` + deep.String()), "", ""},
		"no messages":      {`{"conversationId":"x","messages":[7,null,{"messageId":["a"],"children":{"x":1},"text":{"y":2}},{"messageId":"c","isCreatedByUser":true,"text":"c","children":[[]]}]}`, "user 1/1 c\n", "not a message"},
		"twice":            {webui(`"c":{"role":"user","content":"c"},"c":{"role":"user","content":"d"}`), "user 1/1 c\n", "twice"},
		"current cycle":    {`[{"current_node":"a","mapping":{"a":{"parent":"b"},"b":{"parent":"a"},"c":{"message":{"author":{"role":"user"},"content":{"parts":["c"]}}}}}]`, "user 1/1 c\n", "ancestor"},
	} {
		_, all, _, err := transcript.Read([]byte(strings.ReplaceAll(tt.in, `\\u`, `\u`)))
		if err != nil || len(all) != 1 || !strings.Contains(strings.Join(all[0].Left, ","), tt.left) || tt.left == "" && len(all[0].Left) > 0 {
			t.Errorf("%s: %v, %d conversations, %.200v", name, err, len(all), all)
			continue
		}
		if got := importedPath(t, s, all[0].Document); tt.path != "" && got != tt.path {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	for _, in := range []string{"", "{", "[]", "{}", "7", `"x"`, `[{"mapping":[]}]`, `{"messages":[]}`, `{"format":"x"}`, strings.Repeat("[", 20_000)} {
		if program, all, _, err := transcript.Read([]byte(in)); err == nil || len(all) > 0 {
			t.Errorf("%.20q is taken for %s", in, program)
		}
	}
}

// A long conversation of LibreChat, in which each message is nested in the one before, is read in linear time.
func TestNested(t *testing.T) {
	t.Parallel()
	const n = 3000
	var b strings.Builder
	b.WriteString(`{"conversationId":"x","messages":[` + strings.Repeat(`{"children":[`, n))
	for i := range n {
		fmt.Fprintf(&b, `],"messageId":"m%d","isCreatedByUser":%t,"text":"%s"}`, i, i%2 == 0, strings.Repeat("x", 2000))
	}
	begun := time.Now()
	_, all, notes, err := transcript.Read([]byte(b.String() + "]}"))
	await.Within(t, "reading it", time.Since(begun), 3*time.Second) // in quadratic time it takes 40 s
	if err != nil || len(all) != 1 || all[0].Messages != n || len(all[0].Left)+len(notes) > 0 {
		t.Fatalf("%v, %d conversations, %v", err, len(all), notes)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"chatgpt", "librechat", "librechat-flat", "openwebui"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, all, _, err := transcript.Read(data)
		if err != nil && len(all) > 0 {
			t.Error(err)
		}
		for _, c := range all {
			var doc struct {
				Messages []struct{ ID, ParentID, SelectedChildID string }
			}
			if err := json.Unmarshal(c.Document, &doc); err != nil || len(doc.Messages) != c.Messages || c.Messages == 0 {
				t.Fatalf("%v in %s", err, c.Document)
			}
			parents := map[string]string{}
			for _, m := range doc.Messages {
				if _, there := parents[m.ParentID]; m.ParentID != "" && !there {
					t.Fatalf("%s comes before its parent", m.ID)
				}
				parents[m.ID] = m.ParentID
			}
			for _, m := range doc.Messages {
				if m.SelectedChildID != "" && parents[m.SelectedChildID] != m.ID {
					t.Fatalf("%s selects what is not its child", m.ID)
				}
			}
		}
	})
}
