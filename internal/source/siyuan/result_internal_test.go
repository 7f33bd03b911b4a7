package siyuan

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
)

// node contains itself, and members of all kinds that may be left out.
type node struct {
	ID       string `json:"id"`
	Icon     string `json:"icon" verbose:"yes"`
	Children []node `json:"children"`
	Inner    *struct {
		Deep []int `json:"deep" verbose:"yes"`
		Flat int   `json:"flat"`
	} `json:"inner"`
	sorted
}

type sorted struct {
	Sort []struct{} `json:"sort" verbose:"yes"`
}

// verboseMembersOf returns the members that an action with a result of this type leaves out unless asked for all.
func verboseMembersOf(result any) *action.Members {
	return action.New(action.Spec{
		Tool: "test", Name: "get", Class: action.Reads, Result: result, Example: `{}`,
	}, func(context.Context, *action.Request, action.None) (any, error) { return result, nil }).Verbose()
}

func TestVerboseMembersAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		result    any
		raw, want string
	}{
		{node{}, `{"id":"1","icon":"x","children":[]}`, `{"id":"1","children":[]}`},
		{node{}, `{"icon":"x","id":"1","sort":[1,[2]]}`, `{"id":"1"}`},
		{node{}, `{"icon":{"id":1},"sort":3}`, `{}`},
		{node{}, `{"icon":{"id":1},"inner":{"deep":[1],"flat":2},"nope":{"icon":1}}`, `{"inner":{"flat":2},"nope":{"icon":1}}`},
		{node{}, `{"children":[{"children":[{"icon":"","id":"a","children":[{"icon":{}}]}],"icon":3},{"id":12345678901234567890}]}`, `{"children":[{"children":[{"id":"a","children":[{}]}]},{"id":12345678901234567890}]}`},
		{node{}, `{"children":{"icon":1},"inner":[{"deep":1}],"id":null}`, `{"children":{"icon":1},"inner":[{"deep":1}],"id":null}`},
		{[]node{}, `[{"sort":9,"id":"咖啡 \u0041 \" \\"},3]`, `[{"id":"咖啡 \u0041 \" \\"},3]`},
		{[]node{}, "[ {\"icon\" : 1 ,\n\"id\" : 2 } ]", "[ {\n\"id\" : 2 } ]"},
		{node{}, `"text"`, `"text"`},
		{struct{ A, B int }{}, `{"a":[1,2],"b":{}}`, `{"a":[1,2],"b":{}}`},
		{nil, `null`, `null`},
	} {
		if got := buildResult([]byte(tt.raw), verboseMembersOf(tt.result)); string(got.appendKept(nil)) != tt.want || string(got.result().Raw) != encodeResult(t, tt.want) {
			t.Errorf("%s became %s as %s, want %s", tt.raw, got.appendKept(nil), got.result().Raw, tt.want)
		}
	}
}

// encodeResult returns the MCP result of JSON, built in several passes.
func encodeResult(t *testing.T, payload string) string {
	t.Helper()
	text, err := action.Encode(payload)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(payload, "{") {
		payload = `{"value":` + payload + `}`
	}
	return `{"content":[{"type":"text","text":` + string(text) + `}],"structuredContent":` + payload + `}`
}

// FuzzContent compares results with those of encodeResult, built by decoding and encoding.
func FuzzContent(f *testing.F) {
	f.Add(`{"id":"1","icon":"x","children":[{"icon":{"a":"\"\\"},"inner":{"deep":1,"flat":2}}],"sort":[[]]}`)
	f.Add("[1, -2.5e+7 ,\ttrue,\r\nnull,\"\u2028\u2029\\u2028 \xff \xe2\x80\"]")
	f.Add(`{"":"","\\":"\n","<&>":"<&>"}`)
	out := verboseMembersOf(node{})
	f.Fuzz(func(t *testing.T, raw string) {
		var value any
		if json.Unmarshal([]byte(raw), &value) != nil {
			return
		}
		raw = strings.TrimSpace(raw)
		if got := string(buildResult([]byte(raw), nil).result().Raw); got != encodeResult(t, raw) {
			t.Errorf("%q became %q", raw, got)
		}
		c := buildResult([]byte(raw), out)
		kept := string(c.appendKept(nil))
		if got := string(c.result().Raw); got != encodeResult(t, kept) {
			t.Errorf("%q became %q", raw, got)
		}
		var left any
		if err := json.Unmarshal([]byte(kept), &left); err != nil {
			t.Fatalf("%q became %q: %v", raw, kept, err)
		}
		if !strings.Contains(raw, `\`) && !reflect.DeepEqual(left, slimNode(value)) { // a name is compared as it is written
			t.Errorf("%s became %s", raw, kept)
		}
	})
}

// slimNode returns a value without what a node leaves out.
func slimNode(v any) any {
	o, ok := v.(map[string]any)
	if !ok {
		return v
	}
	delete(o, "icon")
	delete(o, "sort")
	if list, ok := o["children"].([]any); ok {
		for i := range list {
			list[i] = slimNode(list[i])
		}
	}
	if inner, ok := o["inner"].(map[string]any); ok {
		delete(inner, "deep")
	}
	return o
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
			got := capResult(json.RawMessage(tt.raw), limit)
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
		if got := string(capResult(json.RawMessage(whole), 2000)); got != whole {
			t.Errorf("cut: %.100s", got)
		}
	}
}

// FuzzCapped: capResult returns JSON in which every list is a beginning of the original list, and everything else is
// unchanged.
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
		got := capResult(json.RawMessage(raw), limit)
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
		if !isCutFrom(object, before) {
			t.Errorf("%s\nis not a beginning of\n%s", got, raw)
		}
	})
}

// isCutFrom reports whether a is b with some lists cut.
func isCutFrom(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) > len(b) {
			return false
		}
		for i := range a {
			if !isCutFrom(a[i], b[i]) {
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
			if !isCutFrom(a[k], b[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}
