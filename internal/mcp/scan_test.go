package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/mcp"
)

func TestCheckDepth(t *testing.T) {
	t.Parallel()
	deep := func(n int) []byte {
		return []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	if err := mcp.Check(deep(mcp.MaxDepth)); err != nil {
		t.Errorf("depth %d: %v", mcp.MaxDepth, err)
	}
	if err := mcp.Check(deep(mcp.MaxDepth + 1)); err == nil {
		t.Errorf("depth %d was accepted", mcp.MaxDepth+1)
	}
	objects := strings.Repeat(`{"a":`, mcp.MaxDepth+1) + "1" + strings.Repeat("}", mcp.MaxDepth+1)
	if err := mcp.Check([]byte(objects)); err == nil {
		t.Errorf("objects nested %d deep were accepted", mcp.MaxDepth+1)
	}
}

// FuzzCheck compares the scanner with encoding/json: both must accept the same texts.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		``, ` `, `{}`, `[]`, `null`, `tru`, `-0`, `01`, `1.`, `1e`, `1e+5`, `-`, `"\u12"`, `"\u12aF"`,
		"\"\x1f\"", `"a\"b"`, `{"a":1,}`, `[1,]`, `{"a" : [1, 2 , {"b":"c"}]} `, `{a:1}`, `{"a":1 "b":2}`,
		`12345678901234567890`, `"12345678\\"`, `"1234567\`, "\"12345678\x80\xff\"", `{"a":{"b":[[[]]]}}x`, "\t{\n}\r",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if strings.Count(string(b), "[")+strings.Count(string(b), "{") >= mcp.MaxDepth {
			t.Skip("depth limits differ by design")
		}
		err := mcp.Check(b)
		if (err == nil) != json.Valid(b) {
			t.Fatalf("%q: scanner says %v, encoding/json says valid=%v", b, err, json.Valid(b))
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, id, method, params, result, errobj, fail string }{
		{in: `{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"x":1}}`, id: "7", method: "a/b", params: `{"x":1}`},
		{in: `{"id":"q","jsonrpc":"2.0","m\u0065thod":"x"}`, id: `"q"`, method: "x"},
		{in: `{"jsonrpc":"2.0","method":"n","params":null}`, method: "n"},
		{in: `{"jsonrpc":"2.0","id":1,"result":{"isError":true}}`, id: "1", result: `{"isError":true}`},
		{in: `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`, id: "1", errobj: `{"code":1}`},
		{in: `{"id":1,"result":[]}`, id: "1", result: "[]"},
		{in: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`, id: "null", errobj: `{"code":-32700}`},
		{in: `{"id":1,"method":"x"}`, fail: "jsonrpc"},
		{in: `{"jsonrpc":"1.0","id":1,"method":"x"}`, fail: `must be "2.0"`},
		{in: `{"jsonrpc":"2.0","id":[1],"method":"x"}`, fail: `"id"`},
		{in: `{"jsonrpc":"2.0","id":null,"method":"x"}`, fail: `"id"`},
		{in: `{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, fail: `"id"`},
		{in: `{"jsonrpc":"2.0","id":1,"method":5}`, fail: `"method"`},
		{in: `{"jsonrpc":"2.0","id":1,"method":"x","params":"s"}`, fail: `"params"`},
		{in: `{"jsonrpc":"2.0","id":1}`, fail: "expected"},
		{in: `{"jsonrpc":"2.0","result":{}}`, fail: `"id"`},
		{in: `"text"`, fail: "expected an object"},
		{in: `{"jsonrpc":"2.0","id":1,"method":"x"} x`, fail: "invalid JSON at byte 38"},
	} {
		m, err := mcp.Parse([]byte(tc.in))
		if tc.fail != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fail) {
				t.Errorf("%s: error %v, want one with %q", tc.in, err, tc.fail)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.in, err)
			continue
		}
		got := [...]string{string(m.ID), m.Method, string(m.Params), string(m.Result), string(m.Error)}
		want := [...]string{tc.id, tc.method, tc.params, tc.result, tc.errobj}
		if got != want {
			t.Errorf("%s:\n got %q\nwant %q", tc.in, got, want)
		}
	}
	m, err := mcp.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":{"isError":false},"isError":true,"resultType":"input_required"}}`))
	if err != nil || !m.IsError || m.ResultType != "input_required" {
		t.Errorf("result fields: %+v, %v", m, err)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add(`{"a":1,"b":{"c":2}}`, "b", `"x"`)
	f.Add(`{ "a" : 1 , "a" : 2 }`, "a", ``)
	f.Add(`{"\u0061":1}`, "a", `2`)
	f.Add(`{}`, "k", `null`)
	f.Fuzz(func(t *testing.T, obj, key, value string) {
		var before map[string]json.RawMessage
		if json.Unmarshal([]byte(obj), &before) != nil || before == nil || mcp.Check([]byte(obj)) != nil {
			t.Skip("not a JSON object of an allowed depth")
		}
		if !json.Valid([]byte(value)) {
			value = ""
		}
		var raw json.RawMessage
		if value != "" {
			raw = json.RawMessage(value)
		}
		got := mcp.Edit(json.RawMessage(obj), mcp.Field{Key: key, Value: raw})
		var after map[string]json.RawMessage
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("Edit(%s, %q, %s) = %s: %v", obj, key, value, got, err)
		}
		name := strings.ToValidUTF8(key, "\uFFFD")
		if name != key {
			t.Skip("a key that is not UTF-8")
		}
		for k, v := range before {
			if k != key && string(after[k]) != string(v) {
				t.Fatalf("Edit(%s, %q, %s) = %s: %q changed", obj, key, value, got, k)
			}
		}
		switch v, ok := after[key]; {
		case raw == nil && ok:
			t.Fatalf("Edit(%s, remove %q) = %s: still there", obj, key, got)
		case raw != nil && strings.TrimSpace(string(v)) != strings.TrimSpace(value):
			t.Fatalf("Edit(%s, %q, %s) = %s", obj, key, value, got)
		}
	})
}

func TestEditKeepsBytes(t *testing.T) {
	t.Parallel()
	in := `{ "n" : 12345678901234567890, "name":"a" ,"z":[1, 2]}`
	got := mcp.Edit(json.RawMessage(in), mcp.Field{Key: "name", Value: mcp.Quote("b__a")}, mcp.Field{Key: "new", Value: json.RawMessage("1")})
	want := `{ "n" : 12345678901234567890, "name":"b__a" ,"z":[1, 2],"new":1}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"x":1}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":7,"result":{"isError":true}}, 5]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		msgs, _, err := mcp.ParseBatch(b)
		if err != nil {
			return
		}
		for _, m := range msgs {
			for _, part := range [][]byte{m.Params, m.Result, m.Error, []byte(m.ID)} {
				if len(part) > 0 && !json.Valid(part) {
					t.Fatalf("%q: part %q is not JSON", b, part)
				}
			}
		}
	})
}
