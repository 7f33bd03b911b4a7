package analytics

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"
)

func TestChars(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "abc", "笔记", "🐕", "a🐕笔\n", "\u2028", "é"} {
		if got, want := unitsIn([]byte(s)), len(utf16.Encode([]rune(s))); got != want {
			t.Errorf("unitsIn(%q) = %d, want %d", s, got, want)
		}
	}
	if got := unitsIn([]byte("a\xff\xfe")); got != 3 {
		t.Errorf("of bytes that are not text: %d, want 3", got)
	}
}

// Results come from other people's servers. The measured sizes agree with those from an independent reader,
// and the result is not changed.
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
		r := readParts(raw)
		if diff := cmp.Diff(textsByGJSON(raw), r.texts, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("texts read another way (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(sortedParamKeys(raw), paramKeys(raw), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("names of members (-want +got):\n%s", diff)
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
		if want := unitsIn([]byte(text)); chars != want {
			t.Errorf("%d characters of %q, want %d", chars, text, want)
		}
	})
}

// textsByGJSON finds the texts of a result as readParts does, but with another JSON reader (gjson), as a check.
func textsByGJSON(raw []byte) (texts [][]byte) {
	if !gjson.ValidBytes(raw) || !gjson.ParseBytes(raw).IsObject() {
		return nil
	}
	var item func(gjson.Result)
	item = func(v gjson.Result) {
		if v.IsObject() {
			v.ForEach(func(k, v gjson.Result) bool {
				switch {
				case k.Raw == `"text"` && v.Type == gjson.String:
					texts = append(texts, []byte(v.Raw))
				case k.Raw == `"resource"`:
					item(v)
				}
				return true
			})
		}
	}
	gjson.ParseBytes(raw).ForEach(func(k, v gjson.Result) bool {
		if k.Raw == `"content"` && v.IsArray() {
			v.ForEach(func(_, v gjson.Result) bool {
				item(v)
				return true
			})
		}
		return true
	})
	return texts
}

// sortedParamKeys returns what paramKeys should return: the names in an object as encoding/json reads them, without
// "action" and long ones, sorted, and at most maxKeys of them.
func sortedParamKeys(raw []byte) (names []string) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	for name := range object {
		if name != "action" && len(name) <= maxKeyName {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxKeys)]
}

func TestCutKeepsWholeRunes(t *testing.T) {
	t.Parallel()
	s, truncated := truncateText(strings.Repeat("a", maxText-1) + "🐕")
	if diff := cmp.Diff(strings.Repeat("a", maxText-1), s); diff != "" || !truncated {
		t.Errorf("truncated %t, %d bytes", truncated, len(s))
	}
	if s, truncated := truncateText(strings.Repeat("长", maxText)); len(s) != 3*maxText || truncated {
		t.Errorf("truncated %t, %d bytes", truncated, len(s))
	}
}
