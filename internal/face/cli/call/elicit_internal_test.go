package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// form is an elicitation with a field of each type; formOfFormats has a field of each string format.
const form = `{"message":"Who are \u001b[2Jyou?","requestedSchema":{"type":"object","properties":{
	"name":{"type":"string","description":"Your name"},
	"age":{"type":"integer"},
	"height":{"type":"number"},
	"member":{"type":"boolean","default":true},
	"color":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}],"default":"s"},
	"tags":{"type":"array","items":{"type":"string","enum":["a","b","c"]}}
},"required":["name","age"]}}`

const formOfFormats = `{"message":"m","requestedSchema":{"type":"object","properties":{
	"mail":{"type":"string","format":"email"},"page":{"type":"string","format":"uri"},
	"day":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"}},"required":["mail","page","day","at"]}}`

const formWithBounds = `{"message":"m","requestedSchema":{"type":"object","properties":{
	"age":{"type":"integer","minimum":18,"maximum":130},"nick":{"type":"string","minLength":2,"maxLength":3},
	"tags":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b","c"]}},
	"site":{"type":"string","format":"uri","enum":["https://a.example","https://b.example"]}},"required":["age","nick","tags","site"]}}`

// A person fills in a form field by field, or declines or cancels it.
func TestElicitation(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, params, typed, want, shown string }{
		{
			name: "all fields", params: form, typed: "y\n安\n42\n1.75\nn\ngreen\n2\na,3\n",
			want:  `{"action":"accept","content":{"name":"安","age":42,"height":1.75,"member":false,"color":"g","size":"l","tags":["a","c"]}}`,
			shown: "fake asks: Who are \uFFFD[2Jyou?",
		},
		{name: "defaults", params: form, typed: "\nAnn\n7\n\n\n\n\n\n", want: `{"action":"accept","content":{"name":"Ann","age":7,"member":true,"size":"s"}}`, shown: "default true"},
		{name: "asked again", params: form, typed: "y\n\nAnn\nold\n7\n\n\n\n\n\n", want: `{"action":"accept","content":{"name":"Ann","age":7,"member":true,"size":"s"}}`, shown: "expected a whole number"},
		{
			name: "formats", params: formOfFormats, typed: "Y\nann\nAnn <ann@example.org>\nann@example.org\nhttp//bad\nhttps://a.b/c\nhttps://a.b\n2026-02-30\n2026-02-28\n2026-02-28\n2026-02-28T09:30:00+01:00\n",
			want:  `{"action":"accept","content":{"mail":"ann@example.org","page":"https://a.b/c","day":"2026-02-28","at":"2026-02-28T09:30:00+01:00"}}`,
			shown: "day (a date such as 2026-01-31)",
		},
		{
			name: "bounds", params: formWithBounds, typed: "y\n3\n131\n18\n安\n安安安安\n安安\n1,2,3\n1,2\n2\n",
			want:  `{"action":"accept","content":{"age":18,"nick":"安安","tags":["a","b"],"site":"https://b.example"}}`,
			shown: "expected a whole number, at least 18, at most 130",
		},
		{name: "no answer", params: form, typed: "Ann\nno\n", want: `{"action":"decline"}`, shown: "expected y or n"},
		{name: "agreed in Chinese", params: `{"message":"Go on?"}`, typed: "是\n", want: `{"action":"accept","content":{}}`, shown: "Go on?"},
		{name: "declined in Chinese", params: form, typed: "否\n", want: `{"action":"decline"}`, shown: "[Y/n]"},
		{name: "declined", params: form, typed: "n\n", want: `{"action":"decline"}`, shown: "[Y/n]"},
		{name: "given up at once", params: form, typed: "", want: `{"action":"cancel"}`, shown: ""},
		{name: "given up in between", params: form, typed: "y\nAnn\n", want: `{"action":"cancel"}`, shown: ""},
		{name: "no schema", params: `{"message":"Go on?"}`, typed: "y\n", want: `{"action":"accept","content":{}}`, shown: "Go on?"},
		{name: "page opened", params: `{"mode":"url","url":"https://example.com/x","message":"Sign in"}`, typed: "y\n", want: `{"action":"accept"}`, shown: "https://example.com/x"},
		{name: "page refused", params: `{"mode":"url","url":"https://example.com/x","message":"Sign in"}`, typed: "\n", want: `{"action":"decline"}`, shown: "[y/N]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			c := &caller{from: "fake", person: true, out: &out, in: root.NewLines(strings.NewReader(tt.typed))}
			got, err := c.Ask(t.Context(), "elicitation/create", json.RawMessage(tt.params))
			if err != nil || string(got) != tt.want {
				t.Errorf("Ask = %s, %v, want %s\n%s", got, err, tt.want, out.String())
			}
			if !strings.Contains(out.String(), tt.shown) {
				t.Errorf("shown was %q, want %q in it", out.String(), tt.shown)
			}
			for range c.in.Ch { // the rest of what was typed, so that the reader ends
			}
		})
	}
}

// A terminal answers elicitations only with a person at it, and never requests for sampling.
func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	for _, c := range []*caller{{person: true, in: root.NewLines(strings.NewReader(""))}, {in: root.NewLines(strings.NewReader(""))}} {
		if c.Supports(tool.CanSample) || c.Supports(tool.CanRoots) || c.Supports(tool.CanElicit) != c.person {
			t.Errorf("a terminal supports elicitation alone, and only with a person")
		}
		_, err := c.Ask(t.Context(), "sampling/createMessage", nil)
		if e, ok := errors.AsType[*tool.ProtocolError](err); !ok || e.Code != remote.CodeMethod {
			t.Errorf("sampling is answered with %v, want code %d", err, remote.CodeMethod)
		}
	}
	c := &caller{}
	if _, err := c.Ask(t.Context(), "elicitation/create", json.RawMessage(form)); err == nil {
		t.Error("without a person an elicitation was answered")
	}
}

// A question does not outlive the context of its call.
func TestQuestionEndsWithTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		typed, never := io.Pipe()
		c := &caller{person: true, out: io.Discard, in: root.NewLines(typed)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Ask(ctx, "elicitation/create", json.RawMessage(form)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ask = %v, want the deadline", err)
		}
		_ = never.Close()
	})
}

// Progress is one line that is rewritten in place, and removed at the end.
func TestProgressIsOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &caller{screen: true, out: &out}
	c.Notify(t.Context(), "notifications/progress", json.RawMessage(`{"progress":1,"total":3,"message":"copy\n\u001b[2Jit"}`))
	c.Notify(t.Context(), "notifications/progress", json.RawMessage(`{"progress":2.5}`))
	c.Done()
	c.Done()
	if got, want := out.String(), "\r\x1b[K1/3 copy \uFFFD[2Jit\r\x1b[K2.5\r\x1b[K"; got != want {
		t.Errorf("screen got %q, want %q", got, want)
	}
}
