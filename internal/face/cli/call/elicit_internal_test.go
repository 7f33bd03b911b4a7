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

// form is an elicitation with a field of each type; formats4 has a field of each string format.
const form = `{"message":"Who are \u001b[2Jyou?","requestedSchema":{"type":"object","properties":{
	"name":{"type":"string","description":"Your name"},
	"age":{"type":"integer"},
	"height":{"type":"number"},
	"member":{"type":"boolean","default":true},
	"color":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}],"default":"s"},
	"tags":{"type":"array","items":{"type":"string","enum":["a","b","c"]}}
},"required":["name","age"]}}`

const formats4 = `{"message":"m","requestedSchema":{"type":"object","properties":{
	"mail":{"type":"string","format":"email"},"page":{"type":"string","format":"uri"},
	"day":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"}},"required":["mail","page","day","at"]}}`

// A person fills in a form field by field, or declines or cancels it.
func TestElicitation(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, params, typed, want, shown string }{
		{
			"all fields", form, "y\n安\n42\n1.75\nn\ngreen\n2\na,3\n",
			`{"action":"accept","content":{"name":"安","age":42,"height":1.75,"member":false,"color":"g","size":"l","tags":["a","c"]}}`,
			"fake asks: Who are \uFFFD[2Jyou?",
		},
		{"defaults", form, "\nAnn\n7\n\n\n\n\n\n", `{"action":"accept","content":{"name":"Ann","age":7,"member":true,"size":"s"}}`, "default true"},
		{"asked again", form, "y\n\nAnn\nold\n7\n\n\n\n\n\n", `{"action":"accept","content":{"name":"Ann","age":7,"member":true,"size":"s"}}`, "expected a whole number"},
		{
			"formats", formats4, "Y\nann\nAnn <ann@example.org>\nann@example.org\nhttp//bad\nhttps://a.b/c\nhttps://a.b\n2026-02-30\n2026-02-28\n2026-02-28\n2026-02-28T09:30:00+01:00\n",
			`{"action":"accept","content":{"mail":"ann@example.org","page":"https://a.b/c","day":"2026-02-28","at":"2026-02-28T09:30:00+01:00"}}`,
			"day (a date such as 2026-01-31)",
		},
		{"no answer", form, "Ann\nno\n", `{"action":"decline"}`, "expected y or n"},
		{"agreed in Chinese", `{"message":"Go on?"}`, "是\n", `{"action":"accept","content":{}}`, "Go on?"},
		{"declined in Chinese", form, "否\n", `{"action":"decline"}`, "[Y/n]"},
		{"declined", form, "n\n", `{"action":"decline"}`, "[Y/n]"},
		{"given up at once", form, "", `{"action":"cancel"}`, ""},
		{"given up in between", form, "y\nAnn\n", `{"action":"cancel"}`, ""},
		{"no schema", `{"message":"Go on?"}`, "y\n", `{"action":"accept","content":{}}`, "Go on?"},
		{"page opened", `{"mode":"url","url":"https://example.com/x","message":"Sign in"}`, "y\n", `{"action":"accept"}`, "https://example.com/x"},
		{"page refused", `{"mode":"url","url":"https://example.com/x","message":"Sign in"}`, "\n", `{"action":"decline"}`, "[y/N]"},
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
