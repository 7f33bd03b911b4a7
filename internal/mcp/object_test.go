package mcp_test

import (
	"encoding/json"
	"testing"

	"collie/internal/mcp"
)

// Edit changes nothing but the field itself and one comma.
func TestEditBytes(t *testing.T) {
	t.Parallel()
	set := func(key, value string) mcp.Field { return mcp.Field{Key: key, Value: json.RawMessage(value)} }
	remove := func(key string) mcp.Field { return mcp.Field{Key: key} }
	for _, tc := range []struct {
		in, want string
		fields   []mcp.Field
	}{
		{` { "a" : 1.0 ,	"b" : [ ] } `, `{ "a" : 1.0 ,	"b" : 2 }`, []mcp.Field{set("b", "2")}},
		{`{ "a" : 1.0 , "b" : [ ] }`, `{ "a" : 0 , "b" : [ ] }`, []mcp.Field{set("a", "0")}},
		{`{"a":1 , "b":2 }`, `{"a":1 , "b":2,"c":3 }`, []mcp.Field{set("c", "3")}},
		{`{ }`, `{"c":3 }`, []mcp.Field{set("c", "3")}},
		{`{}`, `{"c":3,"d":4}`, []mcp.Field{set("c", "3"), remove("e"), set("d", "4")}},
		{`null`, `{"c":3}`, []mcp.Field{set("c", "3")}},
		{``, `{}`, nil},
		{`{"a" : 1, "x":2 , "b":3}`, `{"a" : 1 , "b":3}`, []mcp.Field{remove("x")}},
		{`{"a":1, "x":2 }`, `{"a":1 }`, []mcp.Field{remove("x")}},
		{`{ "x":2, "a":1}`, `{  "a":1}`, []mcp.Field{remove("x")}},
		{`{"x":2}`, `{}`, []mcp.Field{remove("x")}},
		{`{"x":1,"y":2,"a":3,"z":4}`, `{"a":3}`, []mcp.Field{remove("x"), remove("y"), remove("z")}},
		{`{"x":1,"y":2}`, `{"n":0}`, []mcp.Field{remove("x"), remove("y"), set("n", "0")}},
		{`{"a":1,"x":2,"y":3}`, `{"a":1,"n":0}`, []mcp.Field{remove("x"), set("n", "0"), remove("y")}},
		{`{"x":1,"a":{"x":2}}`, `{"a":{"x":2}}`, []mcp.Field{remove("x")}},
		{`{"a":1,"a":2,"b":3}`, `{"a":0,"b":3}`, []mcp.Field{set("a", "0")}},
		{`{"\u0061":1,"b":3}`, `{"\u0061":0,"b":3}`, []mcp.Field{set("a", "0")}},
		{`{"x":"\"x\":,}{","a":1}`, `{"a":1}`, []mcp.Field{remove("x")}},
	} {
		if got := string(mcp.Edit(json.RawMessage(tc.in), tc.fields...)); got != tc.want {
			t.Errorf("Edit(%s, %s)\n got %s\nwant %s", tc.in, tc.fields, got, tc.want)
		}
	}
}

func TestWithFields(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`: `{"k":1}`, `{ }`: `{"k":1 }`, ` { "a":1 }`: `{"k":1, "a":1 }`, `[]`: `[]`, ``: ``,
	} {
		if got := string(mcp.WithFields(json.RawMessage(in), mcp.Field{Key: "k", Value: json.RawMessage("1")})); got != want {
			t.Errorf("WithFields(%s) = %s, want %s", in, got, want)
		}
	}
}
