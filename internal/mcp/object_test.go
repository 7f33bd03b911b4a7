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
		{in: ` { "a" : 1.0 ,	"b" : [ ] } `, want: `{ "a" : 1.0 ,	"b" : 2 }`, fields: []mcp.Field{set("b", "2")}},
		{in: `{ "a" : 1.0 , "b" : [ ] }`, want: `{ "a" : 0 , "b" : [ ] }`, fields: []mcp.Field{set("a", "0")}},
		{in: `{"a":1 , "b":2 }`, want: `{"a":1 , "b":2,"c":3 }`, fields: []mcp.Field{set("c", "3")}},
		{in: `{ }`, want: `{"c":3 }`, fields: []mcp.Field{set("c", "3")}},
		{in: `{}`, want: `{"c":3,"d":4}`, fields: []mcp.Field{set("c", "3"), remove("e"), set("d", "4")}},
		{in: `null`, want: `{"c":3}`, fields: []mcp.Field{set("c", "3")}},
		{in: ``, want: `{}`},
		{in: `{"a" : 1, "x":2 , "b":3}`, want: `{"a" : 1 , "b":3}`, fields: []mcp.Field{remove("x")}},
		{in: `{"a":1, "x":2 }`, want: `{"a":1 }`, fields: []mcp.Field{remove("x")}},
		{in: `{ "x":2, "a":1}`, want: `{  "a":1}`, fields: []mcp.Field{remove("x")}},
		{in: `{"x":2}`, want: `{}`, fields: []mcp.Field{remove("x")}},
		{in: `{"x":1,"y":2,"a":3,"z":4}`, want: `{"a":3}`, fields: []mcp.Field{remove("x"), remove("y"), remove("z")}},
		{in: `{"x":1,"y":2}`, want: `{"n":0}`, fields: []mcp.Field{remove("x"), remove("y"), set("n", "0")}},
		{in: `{"a":1,"x":2,"y":3}`, want: `{"a":1,"n":0}`, fields: []mcp.Field{remove("x"), set("n", "0"), remove("y")}},
		{in: `{"x":1,"a":{"x":2}}`, want: `{"a":{"x":2}}`, fields: []mcp.Field{remove("x")}},
		{in: `{"a":1,"a":2,"b":3}`, want: `{"a":0,"b":3}`, fields: []mcp.Field{set("a", "0")}},
		{in: `{"\u0061":1,"b":3}`, want: `{"\u0061":0,"b":3}`, fields: []mcp.Field{set("a", "0")}},
		{in: `{"x":"\"x\":,}{","a":1}`, want: `{"a":1}`, fields: []mcp.Field{remove("x")}},
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
