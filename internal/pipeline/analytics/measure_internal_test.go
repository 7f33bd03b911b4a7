package analytics

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestChars(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "abc", "笔记", "🐕", "a🐕笔\n", "\u2028", "é"} {
		if got, want := Chars([]byte(s)), len(utf16.Encode([]rune(s))); got != want {
			t.Errorf("Chars(%q) = %d, want %d", s, got, want)
		}
	}
	if got := Chars([]byte("a\xff\xfe")); got != 3 {
		t.Errorf("of bytes that are not text: %d, want 3", got)
	}
}

// Results come from other people's servers. What is measured of one agrees with what is read of
// it by other means, and nothing of the result is changed.
func FuzzMeasure(f *testing.F) {
	for _, s := range []string{
		`{"content":[{"type":"text","text":"a\n\ud83d\udc15\"é"},{"text":"b"}],"isError":false}`,
		`{"content":[{"resource":{"uri":"x","text":"r"}}],"structuredContent":{"a":1}}`,
		`{"content":[{"text":"\ud800"}]}`, `{"content":{},"structuredContent":[1,2]}`, `{"content":[`, `[]`, `1`, ``, "{\"content\":[{\"text\":\"\xff\"}]}",
		`{"content":[],"content":[{"text":"twice","text":"more"}]} x`, ` { "\u0063ontent" : [ { "text" : "escaped name" } ] } `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		r := read(raw)
		if diff := cmp.Diff(readAny(raw), r, cmp.AllowUnexported(reading{}), cmpopts.EquateEmpty()); len(raw) > 0 && diff != "" {
			t.Errorf("read another way (-want +got):\n%s", diff)
		}
		if keys, ok := plainKeys(raw); ok {
			if diff := cmp.Diff(namesOf(raw), keys); diff != "" {
				t.Errorf("names of members (-want +got):\n%s", diff)
			}
		}
		chars, text := r.chars(), r.text()
		if !bytes.Equal(before, raw) {
			t.Fatal("the result was changed")
		}
		if chars > len(raw) {
			t.Errorf("%d characters in %d bytes", chars, len(raw))
		}
		if !json.Valid(raw) || strings.ContainsRune(text, '\ufffd') {
			return
		}
		if want := Chars([]byte(text)); chars != want {
			t.Errorf("%d characters of %q, want %d", chars, text, want)
		}
	})
}

func TestCutKeepsWholeRunes(t *testing.T) {
	t.Parallel()
	s, truncated := cut(strings.Repeat("a", maxText-1) + "🐕")
	if diff := cmp.Diff(strings.Repeat("a", maxText-1), s); diff != "" || !truncated {
		t.Errorf("truncated %t, %d bytes", truncated, len(s))
	}
	if s, truncated := cut(strings.Repeat("长", maxText)); len(s) != 3*maxText || truncated {
		t.Errorf("truncated %t, %d bytes", truncated, len(s))
	}
}
