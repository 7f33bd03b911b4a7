package siyuan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
)

func TestSlim(t *testing.T) {
	t.Parallel()
	fields := []action.Field{
		{Name: "id"},
		{Name: "icon", Verbose: true},
		{Name: "data"},
		{Name: "data[].sort", Verbose: true},
		{Name: "data[].inner.deep", Verbose: true},
		{Name: "[].sort", Verbose: true},
	}
	for raw, want := range map[string]string{
		`{"id":"1","icon":"x","data":[]}`:                                      `{"id":"1","data":[]}`,
		`{"data":[{"sort":1,"id":"a"},{"id":"b"}]}`:                            `{"data":[{"id":"a"},{"id":"b"}]}`,
		`{"data":[{"inner":{"deep":[1],"flat":2},"icon":"kept"}]}`:             `{"data":[{"inner":{"flat":2},"icon":"kept"}]}`,
		`[{"sort":9,"id":"咖啡 \u0041"}]`:                                        `[{"id":"咖啡 \u0041"}]`,
		`{"id":12345678901234567890,"data":[[{"sort":1}]],"other":{"icon":1}}`: `{"id":12345678901234567890,"data":[[{"sort":1}]],"other":{"icon":1}}`,
		`null`:   `null`,
		`"text"`: `"text"`,
	} {
		if got := string(slim(json.RawMessage(raw), fields)); got != want {
			t.Errorf("slim(%s) = %s, want %s", raw, got, want)
		}
	}
}

func TestCapped(t *testing.T) {
	t.Parallel()
	items := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	for name, tt := range map[string]struct{ raw, list string }{
		"a list":         {`{"path":"/x","items":` + items(500, `{"name":"咖啡"}`) + `,"total":500}`, "items"},
		"at the top":     {items(500, `{"name":"x"}`), "value"},
		"two lists":      {`{"a":` + items(300, `"one"`) + `,"b":` + items(400, `"two"`) + `}`, "b"},
		"a tree":         {`{"tree":[{"name":"A","children":[]},{"name":"B","children":` + items(500, `{"name":"x"}`) + `}]}`, "tree[].children"},
		"beside a text":  {`{"text":"` + strings.Repeat("t", 1000) + `","rows":` + items(500, `[1,2]`) + `}`, "rows"},
		"a hint's place": {`{"hint":"old","truncated":false,"rows":` + items(1900, `1`) + `}`, "rows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = 2000
			got := capped(json.RawMessage(tt.raw), limit)
			if !gjson.ValidBytes(got) || len(got) > limit {
				t.Fatalf("%d bytes: %.300s", len(got), got)
			}
			out := gjson.ParseBytes(got)
			var shown, total int
			var list string
			if _, err := fmt.Sscanf(out.Get("hint").String(), "%d of %d items of %s are", &shown, &total, &list); err != nil {
				t.Fatalf("hint %q: %v", out.Get("hint"), err)
			}
			if list != tt.list || shown == 0 || shown >= total || !out.Get("truncated").Bool() || out.Get("totalBytes").Int() != int64(len(tt.raw)) {
				t.Errorf("%s", got[len(got)-200:])
			}
			for _, name := range []string{"hint", "truncated"} {
				if n := strings.Count(string(got), `"`+name+`":`); n != 1 {
					t.Errorf("%d members %s", n, name)
				}
			}
		})
	}
	for _, whole := range []string{`{"a":[1,2]}`, `"` + strings.Repeat("t", 3000) + `"`, `{"text":"` + strings.Repeat("t", 3000) + `"}`} {
		if got := string(capped(json.RawMessage(whole), 2000)); got != whole {
			t.Errorf("cut: %.100s", got)
		}
	}
}

// FuzzCapped holds what is left of any result: JSON, in which every list is the beginning of the
// one that it was made of and everything else is as it was.
func FuzzCapped(f *testing.F) {
	f.Add(`{"a":[1,2,3],"b":{"c":["xxxxxxxxxxxxxxxxxxxxxxxxxxxx"]}}`, 10)
	f.Add("{\"a\\u0000\":[1,2,3,4,5,6,7,8,9]}", 4)
	f.Add(`[[[[1,2],[3,4]],[]],{"a":[{"a":[]}]}]`, 3)
	f.Add(`{"":[1],"a.b":[2],"*":{"[]":[3,3,3,3]}}`, 0)
	f.Fuzz(func(t *testing.T, raw string, limit int) {
		var before any
		if json.Unmarshal([]byte(raw), &before) != nil {
			return
		}
		got := capped(json.RawMessage(raw), limit)
		var after any
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if string(got) == raw {
			return
		}
		if list, ok := before.([]any); ok {
			before = map[string]any{"value": list}
		}
		object := after.(map[string]any)
		for _, note := range []string{"truncated", "totalBytes", "hint"} {
			if object[note] == nil {
				t.Errorf("it does not say %s: %s", note, got)
			}
			delete(object, note)
			delete(before.(map[string]any), note)
		}
		if !beginning(object, before) {
			t.Errorf("%s\nis not a beginning of\n%s", got, raw)
		}
	})
}

// beginning reports whether a is b with some lists cut.
func beginning(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) > len(b) {
			return false
		}
		for i := range a {
			if !beginning(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if !beginning(a[k], b[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}
