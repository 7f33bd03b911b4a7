package tool_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"collie/internal/tool"
)

// Nearest finds the known name that was probably meant by a misspelled one.
func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"path", "recursive", "notebookId", "limit", "page", "笔记本", "文档标题"}
	tests := []struct{ name, want string }{
		{"path", "path"},
		{"pth", "path"},
		{"apth", "path"}, // a swap is one edit
		{"Path", "path"},
		{"notebook_id", "notebookId"},
		{"NOTEBOOK-ID", "notebookId"},
		{"notebook", "notebookId"},
		{"recusrive", "recursive"},
		{"limits", "limit"},
		{"rec", "recursive"}, // a prefix
		{"limitOfResults", "limit"},
		{"笔记", "笔记本"},
		{"文档标提", "文档标题"},
		{"文档", "文档标题"}, // two Chinese characters are enough for a prefix
		{"文", ""},
		{"pa", ""},
		{"q", ""},
		{"x", ""},
		{"", ""},
		{"format", ""},
		{strings.Repeat("path", 1000), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name[:min(len(tt.name), 20)], func(t *testing.T) {
			t.Parallel()
			got, ok := tool.Nearest(tt.name, known)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("Nearest(%q) = %q, %t, want %q", tt.name, got, ok, tt.want)
			}
		})
	}
}

func TestNearestFindsWords(t *testing.T) {
	t.Parallel()
	known := []string{"get_version", "query_sql", "get_decks", "get_cards", "list-cards"}
	for name, want := range map[string]string{
		"version": "get_version", "SQL": "query_sql", "decks": "get_decks", "cards": "", "ge": "", "sion": "",
	} {
		if got, ok := tool.Nearest(name, known); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %t, want %q", name, got, ok, want)
		}
	}
}

func TestNearestPrefersTheFewestEditsThenTheFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		known []string
		want  string
	}{
		{[]string{"patch", "path"}, "path"},
		{[]string{"bath", "math"}, "bath"},
		{[]string{"math", "bath"}, "math"},
	} {
		name := "pathe"
		if tt.known[0] != "patch" {
			name = "path"
		}
		if got, _ := tool.Nearest(name, tt.known); got != tt.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", name, tt.known, got, tt.want)
		}
	}
}

func TestNearestUndoesOneSlip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{5,12}`).Draw(t, "word")
		at := rapid.IntRange(0, len(word)-2).Draw(t, "at")
		slip := rapid.SampledFrom([]string{
			word[:at] + word[at+1:],
			word[:at] + "é" + word[at:],
			word[:at] + "é" + word[at+1:],
			word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:],
		}).Draw(t, "slip")
		if got, ok := tool.Nearest(slip, []string{"另一个完全不同的名字", word}); !ok || got != word {
			t.Fatalf("Nearest(%q) = %q, %t, want %q", slip, got, ok, word)
		}
	})
}
