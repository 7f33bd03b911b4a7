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
		{`{"properties":{"a":{"maxLength":1}}}`, `{"a":"\ud800\u0061"}`, false},
		{`{"properties":{"a":{"maxLength":2}}}`, `{"a":"\ud800\u0061"}`, true},
		{`{"properties":{"a":{"minLength":2}}}`, `{"a":"\ud800\u0061"}`, true},
		{`{"properties":{"a":{"pattern":"^[^a]*$"}}}`, `{"a":["\ud800\u0061"]}`, true},
		{`{"properties":{"a":{"items":{"pattern":"^[^a]*$"}}}}`, `{"a":["\ud800\u0061"]}`, false},
		{`{"properties":{"a":{"maxLength":1}}}`, `{"a":"\ud83d\ude00"}`, true},
		{`{"properties":{"\ufffd":{"type":"string"}},"required":["\ufffd"]}`, `{"\ud800\u0061":"x"}`, false},
		{`{"properties":{"\ufffd":{"type":"string"}},"required":["\ufffd"]}`, `{"\ud800":"x"}`, true},
		{`{"properties":{"\ufffda":{"minimum":1}}}`, `{"\ud800\u0061":0}`, false},
	} {
		c := &tool.Call{Request: tool.Request{Kind: tool.KindCall, Params: json.RawMessage("{}")}, Action: action(tt.schema, false), Args: json.RawMessage(tt.args)}
		if ps := New(Options{}).check(t.Context(), c); (len(ps) == 0) != tt.fits {
			t.Errorf("%s for %s: %v, fits: want %v", tt.args, tt.schema, ps, tt.fits)
		}
	}
}
