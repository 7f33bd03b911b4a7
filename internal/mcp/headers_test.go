package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
)

// The examples of 2026-07-28, Value Encoding, and cases close to them.
func TestEncodeHeaderValue(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{
		{"us-west1", "us-west1"},
		{"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{" padded ", "=?base64?IHBhZGRlZCA=?="},
		{"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
		{"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{"=?base64?no end", "=?base64?no end"},
		{"=?BASE64?x?=", "=?BASE64?x?="},
		{"", ""},
	} {
		got := mcp.EncodeHeaderValue(tt[0])
		if got != tt[1] {
			t.Errorf("EncodeHeaderValue(%q) = %q, want %q", tt[0], got, tt[1])
		}
		if back, err := mcp.DecodeHeaderValue(got); err != nil || back != tt[0] {
			t.Errorf("DecodeHeaderValue(%q) = %q, %v", got, back, err)
		}
	}
}

func TestDecodeHeaderValueRefuses(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"a\nb", "é", "=?base64?***?=", "=?base64?YQ?=", "=?base64?/w==?=", "\x7f"} {
		if got, err := mcp.DecodeHeaderValue(v); err == nil {
			t.Errorf("DecodeHeaderValue(%q) = %q, want an error", v, got)
		}
	}
}

func FuzzHeaderValue(f *testing.F) {
	for _, s := range []string{"", "plain", " x", "é", "=?base64??=", "=?base64?=", "a\r\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?") // JSON strings are always valid UTF-8
		enc := mcp.EncodeHeaderValue(s)
		for _, c := range []byte(enc) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q encodes to %q", s, enc)
			}
		}
		if strings.TrimSpace(enc) != enc {
			t.Fatalf("%q encodes to %q", s, enc)
		}
		if got, err := mcp.DecodeHeaderValue(enc); err != nil || got != s {
			t.Fatalf("%q encodes to %q and decodes to %q, %v", s, enc, got, err)
		}
	})
}

func TestCompileParamHeaders(t *testing.T) {
	t.Parallel()
	prop := func(p string) string { return `{"type":"object","properties":{"a":` + p + `}}` }
	tests := []struct{ name, schema, want string }{
		{name: "none", schema: `{"type":"object"}`},
		{name: "string", schema: prop(`{"type":"string","x-mcp-header":"A"}`)},
		{name: "nested", schema: prop(`{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"B"}}}`)},
		{name: "property of that name", schema: prop(`{"type":"object","properties":{"x-mcp-header":{"type":"object"}}}`)},
		{name: "value of that name", schema: prop(`{"type":"object","default":{"x-mcp-header":1},"const":{"x-mcp-header":"a b"}}`)},
		{name: "empty", schema: prop(`{"type":"string","x-mcp-header":""}`), want: "token"},
		{name: "space", schema: prop(`{"type":"string","x-mcp-header":"a b"}`), want: "token"},
		{name: "line break", schema: prop(`{"type":"string","x-mcp-header":"a\r\nb"}`), want: "token"},
		{name: "not ASCII", schema: prop(`{"type":"string","x-mcp-header":"é"}`), want: "token"},
		{name: "no string", schema: prop(`{"type":"string","x-mcp-header":1}`), want: "token"},
		{name: "number", schema: prop(`{"type":"number","x-mcp-header":"A"}`), want: "type"},
		{name: "object", schema: prop(`{"type":"object","x-mcp-header":"A"}`), want: "type"},
		{name: "no type", schema: prop(`{"x-mcp-header":"A"}`), want: "type"},
		{name: "twice", schema: `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, want: "twice"},
		{name: "root", schema: `{"type":"string","x-mcp-header":"A"}`, want: "properties"},
		{name: "items", schema: prop(`{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`), want: "properties"},
		{name: "prefixItems", schema: prop(`{"prefixItems":[{"type":"string","x-mcp-header":"A"}]}`), want: "properties"},
		{name: "anyOf", schema: `{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, want: "properties"},
		{name: "then", schema: `{"then":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, want: "properties"},
		{name: "$defs", schema: `{"$defs":{"d":{"type":"string","x-mcp-header":"A"}}}`, want: "properties"},
		{name: "escaped keyword", schema: prop(`{"type":"number","x-\u006dcp-header":"A"}`), want: "type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := mcp.CompileParamHeaders(json.RawMessage(tt.schema))
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

const paramSchema = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"n":{"type":"integer","x-mcp-header":"N"},
	"ok":{"type":"boolean","x-mcp-header":"Ok"},
	"in":{"type":"object","properties":{"a.b":{"type":"string","x-mcp-header":"Deep"}}}}}`

func TestParamHeadersPairs(t *testing.T) {
	t.Parallel()
	p, err := mcp.CompileParamHeaders(json.RawMessage(paramSchema))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args string
		want []string
	}{
		{`{"region":"us","n":42,"ok":false,"in":{"a.b":"é"}}`, []string{
			"Mcp-Param-Region", "us", "Mcp-Param-N", "42", "Mcp-Param-Ok", "false", "Mcp-Param-Deep", "=?base64?w6k=?=",
		}},
		{`{"region":null,"n":4.2e1,"in":[]}`, []string{"Mcp-Param-N", "42"}},
		{`{"region":{},"n":-9007199254740991}`, []string{"Mcp-Param-N", "-9007199254740991"}},
		{`{"n":9007199254740993}`, []string{"Mcp-Param-N", "9007199254740993"}},
		{`{}`, []string{}},
		{`null`, []string{}},
	}
	for _, tt := range tests {
		got := p.Pairs(json.RawMessage(tt.args))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.args, diff)
		}
		h := http.Header{}
		for i := 0; i < len(got); i += 2 {
			h.Add(got[i], got[i+1])
		}
		if err := p.Check(json.RawMessage(tt.args), h.Values); err != nil {
			t.Errorf("%s: our own headers do not agree: %v", tt.args, err)
		}
	}
}

func TestParamHeadersCheck(t *testing.T) {
	t.Parallel()
	p, err := mcp.CompileParamHeaders(json.RawMessage(paramSchema))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args   string
		header http.Header
		ok     bool
	}{
		{args: `{"n":42}`, header: http.Header{"Mcp-Param-N": {"42.0"}}, ok: true},
		{args: `{"n":42.0}`, header: http.Header{"Mcp-Param-N": {"42"}}, ok: true},
		{args: `{"region":"é"}`, header: http.Header{"Mcp-Param-Region": {"=?base64?w6k=?="}}, ok: true},
		{args: `{"n":42}`, header: http.Header{"Mcp-Param-N": {"43"}}},
		{args: `{"n":42}`, header: http.Header{"Mcp-Param-N": {"0x2a"}}},
		{args: `{"n":42}`, header: http.Header{}},
		{args: `{"region":"a"}`, header: http.Header{"Mcp-Param-Region": {"A"}}},
		{args: `{"region":"a"}`, header: http.Header{"Mcp-Param-Region": {"a", "a"}}},
		{args: `{"region":"a"}`, header: http.Header{"Mcp-Param-Region": {"=?base64?!?="}}},
		{args: `{"region":null}`, header: http.Header{"Mcp-Param-Region": {""}}},
		{args: `{}`, header: http.Header{"Mcp-Param-Region": {"a"}}},
		{args: `{}`, header: http.Header{"Mcp-Param-Other": {"a"}}, ok: true},
	}
	for _, tt := range tests {
		err := p.Check(json.RawMessage(tt.args), tt.header.Values)
		if (err == nil) != tt.ok {
			t.Errorf("%s with %v: got %v", tt.args, tt.header, err)
		}
	}
	if err := (*mcp.ParamHeaders)(nil).Check(nil, http.Header{}.Values); err != nil {
		t.Error(err)
	}
}
