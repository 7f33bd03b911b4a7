package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// A person sees the changed line, and can read Chinese that a server wrote in escapes.
func TestShowChangeOfSchema(t *testing.T) {
	t.Parallel()
	was := `{"inputSchema":{"type":"object","properties":{"\u57ce\u5e02":{"type":"string","description":"\u57ce\u5e02\u540d"}},"required":["\u57ce\u5e02"]}}`
	now := strings.Replace(was, `"type":"string",`, `"type":"string","default":"\u0007\"\ud800",`, 1)
	var out bytes.Buffer
	p := commands{&root.Program{Output: output.Output{Out: &out}}}
	if err := p.showChange("天气", tool.DefinitionChange{Fields: []string{"inputSchema"}, Was: json.RawMessage(was), Now: json.RawMessage(now)}); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
天气: inputSchema changed
  … inputSchema:
    inputSchema:     "城市": {
    inputSchema:       "type": "string",
  + inputSchema:       "default": "\u0007\"\ud800",
    inputSchema:       "description": "城市名"
    inputSchema:     }
  … inputSchema:
`, "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// The output has every line that only one text has, in order, and no others.
func TestDifferenceShowsAll(t *testing.T) {
	t.Parallel()
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		was, now := lines.Draw(t, "was"), lines.Draw(t, "now")
		got := difference(was, now)
		if same := slices.Equal(was, now); same != !slices.ContainsFunc(got, isChange) {
			t.Fatalf("same: %v, shown: %v", same, got)
		}
		if !isOneSide(was, got, '-') {
			t.Fatalf("the output does not fit the old text: %v", got)
		}
		if !isOneSide(now, got, '+') {
			t.Fatalf("the output does not fit the new text: %v", got)
		}
	})
}

func isChange(l differenceLine) bool { return l.sign == '-' || l.sign == '+' }

// isOneSide reports whether the lines of a difference that both texts have, and those with sign, make up text. A '…' line
// stands for one line of text or more.
func isOneSide(text []string, got []differenceLine, sign rune) bool {
	at := map[int]bool{0: true} // possible positions in the text
	for _, l := range got {
		next := map[int]bool{}
		for i := range at {
			switch {
			case l.sign == '…':
				for j := i + 1; j <= len(text); j++ {
					next[j] = true
				}
			case l.sign != ' ' && l.sign != sign:
				next[i] = true
			case i < len(text) && text[i] == l.text:
				next[i+1] = true
			}
		}
		at = next
	}
	return at[len(text)]
}

// For texts that would take too long to compare, all old lines come first and then all new ones.
func TestDifferenceOfMuch(t *testing.T) {
	t.Parallel()
	was, now := slices.Repeat([]string{"a", "b"}, 3000), slices.Repeat([]string{"b", "c"}, 3000)
	got := difference(was, now)
	if len(got) != 12000 || got[0] != (differenceLine{'-', "a"}) || got[11999] != (differenceLine{'+', "c"}) {
		t.Errorf("there are %d lines, want all old and all new ones", len(got))
	}
}

// FuzzLegible: the readable lines of a JSON text still hold the same value.
func FuzzLegible(f *testing.F) {
	for _, s := range []string{`"a\nb"`, `{"a":"\u57ce\ud800\"","b":[1,2]}`, `{"a":"\\"}`, `{`, ``, `"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := strings.Join(readableLines(raw), "\n")
		if !json.Valid(raw) || raw[0] == '"' {
			return
		}
		var was, now any
		if json.Unmarshal(raw, &was) != nil {
			return
		}
		if err := json.Unmarshal([]byte(text), &now); err != nil || !cmp.Equal(was, now) {
			t.Errorf("%q reads as %q: %v", raw, text, err)
		}
	})
}
