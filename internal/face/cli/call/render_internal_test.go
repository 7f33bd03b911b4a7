package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"collie/internal/arguments"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// A result is shown part by part, and structured content only if no text says the same.
func TestReadable(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, result, want string }{
		{"text", `{"content":[{"type":"text","text":"你好 <&>"}]}`, "你好 <&>\n"},
		{"text with its own line end", `{"content":[{"type":"text","text":"a\n"}]}`, "a\n"},
		{"parts in order", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb\n"},
		{"image", `{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("A", 45336) + `"}]}`, "[image image/png, 34 KB]\n"},
		{"audio", `{"content":[{"type":"audio","mimeType":"audio/wav","data":"AAA="}]}`, "[audio audio/wav, 2 B]\n"},
		{"link", `{"content":[{"type":"resource_link","uri":"file:///x","size":3000000,"mimeType":"text/plain"}]}`, "[link file:///x, text/plain, 3.0 MB]\n"},
		{"resource", `{"content":[{"type":"resource","resource":{"uri":"file:///x","mimeType":"text/plain","text":"abc"}}]}`, "[resource file:///x, text/plain, 3 B]\n"},
		{"unknown", `{"content":[{"type":"hologram","x":1}]}`, `{"type":"hologram","x":1}` + "\n"},
		{"structured alone", `{"structuredContent":{"n":12345678901234567890}}`, "{\n  \"n\": 12345678901234567890\n}\n"},
		{"structured that a text carries", `{"content":[{"type":"text","text":"{\"b\":1,\"a\":2}"}],"structuredContent":{"a":2,"b":1}}`, `{"b":1,"a":2}` + "\n"},
		{"structured that no text carries", `{"content":[{"type":"text","text":"two"}],"structuredContent":{"a":2}}`, "two\n{\n  \"a\": 2\n}\n"},
		{"structured in one member", `{"content":[{"type":"text","text":"two\nlines"}],"structuredContent":{"content":"two\nlines\n"}}`, "two\nlines\n"},
		{"a number in one member", `{"content":[{"type":"text","text":"5"}],"structuredContent":{"result":5}}`, "5\n"},
		{"items in one member", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"result":["a",{"n":1}]}}`, "a\n{\"n\":1}\n"},
		{"more than the text", `{"content":[{"type":"text","text":"a"}],"structuredContent":{"content":"a","n":1}}`, "a\n{\n  \"content\": \"a\",\n  \"n\": 1\n}\n"},
		{"other items", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"r":["a","c"]}}`, "a\nb\n{\n  \"r\": [\n    \"a\",\n    \"c\"\n  ]\n}\n"},
		{"nothing", `{"content":[]}`, ""},
		{"odd", `{"content":{"type":"text"},"x":1}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Readable(json.RawMessage(tt.result)); got != tt.want {
				t.Errorf("readable = %q, want %q", got, tt.want)
			}
		})
	}
}

// With --json the bytes of the server are printed; a failed result goes to stderr and sets the exit code.
func TestShow(t *testing.T) {
	t.Parallel()
	const odd = `{ "content":[{"type":"text","text":"\u00e9"}] ,"n":1.0}`
	tests := []struct {
		name     string
		json     bool
		result   tool.Result
		out, err string
		code     int
	}{
		{name: "bytes as they came", json: true, result: tool.Result{Raw: json.RawMessage(odd)}, out: odd + "\n", err: "", code: 0},
		{name: "failure in JSON", json: true, result: tool.Result{Raw: json.RawMessage(odd), IsError: true}, out: odd + "\n", err: "", code: 1},
		{name: "failure", json: false, result: tool.Result{Raw: json.RawMessage(odd), IsError: true}, out: "", err: "✗ é\n", code: 1},
		{name: "failure without words", json: false, result: tool.Result{Raw: json.RawMessage(`{}`), IsError: true}, out: "", err: "✗ the tool failed and did not say why\n", code: 1},
		{
			name: "our own payload", json: false,
			result: (&tool.Error{Kind: tool.Denied, Subject: "n", Message: "level is r", Hint: "raise it"}).ErrorResult(),
			out:    "", err: "✗ [permission_denied] call n: level is r\n  Hint: raise it\n", code: 4,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, errw bytes.Buffer
			p := commands{&root.Program{Output: output.Output{Out: &out, Err: &errw, JSON: tt.json}}}
			code := 0
			if err := p.show(tt.result); err != nil {
				code = p.Report(err)
			}
			if out.String() != tt.out || errw.String() != tt.err || code != tt.code {
				t.Errorf("stdout %q, stderr %q, code %d; want %q, %q, %d", out.String(), errw.String(), code, tt.out, tt.err, tt.code)
			}
		})
	}
}

// The estimate counts four ASCII bytes as one token, and every other character as one.
func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "笔记": 2, "ab笔记": 3} {
		if got := tool.Tokens([]byte(text)); got != want {
			t.Errorf("tokens(%q) = %d, want %d", text, got, want)
		}
	}
}

// explainGivingUp leaves an error alone if there was neither an interrupt nor a timeout.
func TestExplainGivingUpKeepsOtherErrors(t *testing.T) {
	t.Parallel()
	err := error(&tool.Error{Kind: tool.Crashed})
	if got := explainGivingUp(t.Context(), t.Context(), err); !errors.Is(got, err) {
		t.Errorf("nobody gave up, and the error became %v", got)
	}
}

// Errors about arguments name the flags as a person types them.
func TestErrorsNameFlags(t *testing.T) {
	t.Parallel()
	err := nameFlags(&tool.Error{Kind: tool.Invalid, Fields: []tool.Field{
		{Path: "/parentID", Message: "is missing"}, {Path: "/tags/0", Message: "is short"}, {Path: "", Message: "whole"},
	}}, "collie notes add", arguments.Parameters(json.RawMessage(`{"properties":{"parentID":{"type":"string"},"tags":{"type":"array"}}}`)), false)
	var out bytes.Buffer
	p := commands{&root.Program{Output: output.Output{Err: &out}}}
	p.Report(err)
	for _, want := range []string{"  --parent-id: is missing\n", "  --tags/0: is short\n", "Hint: collie notes add --help"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("report is %q, want a line %q", out.String(), want)
		}
	}
}

// FuzzReadable: whatever a server sends, the output consists of whole lines.
func FuzzReadable(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"a"},{"type":"image","data":"AA=="}],"structuredContent":{"a":1}}`)
	f.Add(`{"content":[1,null,{"type":"resource"},{"type":"resource_link","size":1e99}]}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, result string) {
		if !json.Valid([]byte(result)) {
			return
		}
		if got := Readable(json.RawMessage(result)); got != "" && !strings.HasSuffix(got, "\n") {
			t.Errorf("readable(%s) = %q, want a line break at the end", result, got)
		}
	})
}
