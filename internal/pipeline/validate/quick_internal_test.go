package validate

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzQuick holds the quick way against the thorough one.
func FuzzQuick(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1,"a":2}`, `{"text":"hi","n":12345678901234567890,"x":[true,null,1.50,{"é":"\u00e9\n"}]}`,
		`[]`, `"\ud83d\ude00"`, ` { "a" : [ 1 , 2 ] } `, `-0`, `1e400`, `{"a\u0062":{},"ab":1}`, `null`, `{"":{"":""}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) || !utf8.ValidString(s) || strings.Contains(s, `\u`) && strings.ContainsAny(s, "dD") || strings.Count(s, "[")+strings.Count(s, "{") > 500 {
			t.Skip("not for the quick way, or a lone surrogate, which nobody holds against a schema")
		}
		want, values, err := decode([]byte(s), false)
		got, n, ok := quick([]byte(s))
		if err != nil {
			if ok {
				t.Fatalf("quick took %q, decode says %v", s, err)
			}
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
