package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/mcp"
	"collie/internal/pipeline/gate"
	"collie/internal/tool/tooltest"
)

// offerDangerous makes the source offer one dangerous action.
func (w *world) offerDangerous() {
	a := tooltest.Action("drop", `"properties":{"id":{"type":"string"}}`)
	a.Dangerous = true
	w.fake.Publish(tooltest.Offer("s", a))
}

const dropParams = `{"name":"s__drop","arguments":{"id":"one"}`

// errorType returns the type of the error in a result, empty if there is none.
func errorType(t *testing.T, result string) string {
	t.Helper()
	if !gjson.Get(result, "isError").Bool() {
		return ""
	}
	return gjson.Get(gjson.Get(result, "content.0.text").String(), "error.type").String()
}

// callDangerous makes a dangerous call and answers the question about it as clients of each era do: a legacy client
// while the call runs, a modern one by sending it again.
func (c *client) callDangerous(t *testing.T, answer string) (question, result string) {
	t.Helper()
	c.answer = func(m mcp.Message) (json.RawMessage, error) {
		question = string(m.Params)
		if m.Method != "elicitation/create" {
			t.Errorf("asked %s", m.Method)
		}
		return json.RawMessage(answer), nil
	}
	result, err := c.request(t, "tools/call", dropParams+`}`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Era == mcp.Legacy {
		return question, result
	}
	ask := gjson.Get(result, "inputRequests.ask_1")
	if gjson.Get(result, "resultType").String() != "input_required" || ask.Get("method").String() != "elicitation/create" {
		t.Fatalf("no question: %s", result)
	}
	result, err = c.request(t, "tools/call", dropParams+`,"requestState":`+gjson.Get(result, "requestState").Raw+`,"inputResponses":{"ask_1":`+answer+`}}`)
	if err != nil {
		t.Fatal(err)
	}
	return ask.Get("params").Raw, result
}

// A client of either era that shows forms is asked before a dangerous call runs.
func TestDangerousCallsAreConfirmed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world, c *client) {
		w.offerDangerous()
		for i, tt := range []struct{ answer, kind string }{
			{`{"action":"accept","content":{"confirm":true}}`, ""},
			{`{"action":"accept","content":{"confirm":false}}`, "confirmation_declined"},
			{`{"action":"decline"}`, "confirmation_declined"},
			{`{"action":"cancel"}`, "confirmation_declined"},
		} {
			question, result := c.callDangerous(t, tt.answer)
			if text := gjson.Get(question, "message").String(); !strings.Contains(text, "Action: drop") || !strings.Contains(text, `{"id":"one"}`) {
				t.Errorf("question %s", question)
			}
			if got := gjson.Get(question, "requestedSchema.properties.confirm.type").String(); got != "boolean" {
				t.Errorf("question %s", question)
			}
			if got := errorType(t, result); got != tt.kind {
				t.Errorf("%s: %s, want %q", tt.answer, result, tt.kind)
			}
			if n := len(w.fake.Calls()); n != 1 {
				t.Errorf("after %d answers %d calls ran, want the first alone", i+1, n)
			}
		}
	})
}

// A client that shows no forms gets a code, and sending the code back confirms nothing. No declaration gives a client the rights
// of Collie's own programs.
func TestDangerousCallsWaitForACode(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.offerDangerous()
			c := w.dialWith(t, protocol, `{"collie/confirm":{},"experimental":{"collie/confirm":{}}}`)
			do := func(params string) string {
				t.Helper()
				result, err := c.request(t, "tools/call", params)
				if err != nil {
					t.Fatal(err)
				}
				return result
			}
			code := func(result string) string {
				t.Helper()
				payload := gjson.Get(result, "content.0.text").String()
				if errorType(t, result) != "confirmation_needed" || len(w.fake.Calls()) > 0 {
					t.Fatalf("%s", result)
				}
				return gjson.Get(payload, "error.confirmationCode").String()
			}
			first := code(do(dropParams + `}`))
			// A model might send the code back in any of these ways.
			code(do(`{"name":"s__drop","arguments":{"id":"one","code":"` + first + `"}}`))
			code(do(dropParams + `,"_meta":{"collie/confirm":true,"confirmationCode":"` + first + `"}}`))
			code(do(dropParams + `,"confirm":"` + first + `","inputResponses":{"ask_1":{"confirm":true}}}`))
			if again := code(do(dropParams + `}`)); again != first {
				t.Errorf("code %s, then %s", first, again)
			}
			if _, err := gate.OpenPending(w.pending).Answer(t.Context(), first, true); err != nil {
				t.Fatal(err)
			}
			if result := do(dropParams + `}`); errorType(t, result) != "" || len(w.fake.Calls()) != 1 {
				t.Errorf("confirmed: %s", result)
			}
			if result := do(dropParams + `}`); errorType(t, result) != "confirmation_needed" || len(w.fake.Calls()) != 1 {
				t.Errorf("a second time: %s", result)
			}
		})
	}
}
