package output

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// JSON that is printed has no character that a terminal obeys, and says the same.
func TestPrintJSONIsHarmless(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for r := range rune(0x3000) {
		all.WriteRune(r)
	}
	for _, text := range []string{"a\u009b2Jb", "\x7f", "\u202e\u2066", "plain 笔记 é \u00a0 <&>", all.String(), "\U0001f600\U000e0001"} {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for what, v := range map[string]any{"text": text, "JSON": json.RawMessage(raw), "key": map[string]int{text: 1}} {
			p, out, _ := newOutput()
			if err := p.PrintJSON(v); err != nil {
				t.Fatal(err)
			}
			line := strings.TrimSuffix(out.String(), "\n")
			if strings.ContainsFunc(line, IsControl) {
				t.Errorf("%s %q is printed with control characters: %q", what, text, line)
			}
			want := text
			var got any
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Errorf("%s %q: %v", what, text, err)
			} else if m, ok := got.(map[string]any); ok {
				got, want = fmt.Sprint(m), fmt.Sprint(map[string]int{text: 1})
			}
			if got != want {
				t.Errorf("%s %q became %q", what, text, got)
			}
		}
	}
	p, out, _ := newOutput()
	if err := p.PrintJSON("a\u009b2J笔<"); err != nil || out.String() != `"a\u009b2J笔<"`+"\n" {
		t.Errorf("%q, %v", out, err)
	}
	for r := range rune(0x110000) { // escapes have four digits
		if r >= 0x10000 && IsControl(r) {
			t.Fatalf("%U needs a surrogate pair", r)
		}
	}
}
