package validate

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"collie/internal/tool"
)

// FuzzQuick compares quickDecode with decode.
func FuzzQuick(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1,"a":2}`, `{"text":"hi","n":12345678901234567890,"x":[true,null,1.50,{"é":"\u00e9\n"}]}`,
		`[]`, `"\ud83d\ude00"`, ` { "a" : [ 1 , 2 ] } `, `-0`, `1e400`, `{"a\u0062":{},"ab":1}`, `null`, `{"":{"":""}}`,
		`"\ud800\u0061"`, `{"\udc00\u0061":1,"\ufffd":2}`, `"\ud83d\ude00\ud83d"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) || !utf8.ValidString(s) || strings.Count(s, "[")+strings.Count(s, "{") > 500 {
			t.Skip("not for the quick way")
		}
		want, values, err := decode([]byte(s), false)
		got, n, ok := quickDecode([]byte(s))
		if err != nil {
			if ok {
				t.Fatalf("quick took %q, decode says %v", s, err)
			}
			return
		}
		if !ok && strings.Contains(s, `\u`) { // it may be half a surrogate pair
			return
		}
		if !ok || n != values {
			t.Fatalf("quick says %t and counts %d of %q, want %d", ok, n, s, values)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-decode +quick):\n%s", s, diff)
		}
	})
}

// An escape for half a surrogate pair counts as one character for the schema and does not swallow the text
// after it.
func TestHalfCharacters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema, args string
		fits         bool
	}{
		{schema: `{"properties":{"a":{"maxLength":1}}}`, args: `{"a":"\ud800\u0061"}`},
		{schema: `{"properties":{"a":{"maxLength":2}}}`, args: `{"a":"\ud800\u0061"}`, fits: true},
		{schema: `{"properties":{"a":{"minLength":2}}}`, args: `{"a":"\ud800\u0061"}`, fits: true},
		{schema: `{"properties":{"a":{"pattern":"^[^a]*$"}}}`, args: `{"a":["\ud800\u0061"]}`, fits: true},
		{schema: `{"properties":{"a":{"items":{"pattern":"^[^a]*$"}}}}`, args: `{"a":["\ud800\u0061"]}`},
		{schema: `{"properties":{"a":{"maxLength":1}}}`, args: `{"a":"\ud83d\ude00"}`, fits: true},
		{schema: `{"properties":{"\ufffd":{"type":"string"}},"required":["\ufffd"]}`, args: `{"\ud800\u0061":"x"}`},
		{schema: `{"properties":{"\ufffd":{"type":"string"}},"required":["\ufffd"]}`, args: `{"\ud800":"x"}`, fits: true},
		{schema: `{"properties":{"\ufffda":{"minimum":1}}}`, args: `{"\ud800\u0061":0}`},
	} {
		c := &tool.Call{Request: tool.Request{Kind: tool.KindCall, Params: json.RawMessage("{}")}, Action: newAction(tt.schema, false), Args: json.RawMessage(tt.args)}
		if ps := New(Options{}).check(t.Context(), c); (len(ps) == 0) != tt.fits {
			t.Errorf("%s for %s: %v, fits: want %v", tt.args, tt.schema, ps, tt.fits)
		}
	}
}
