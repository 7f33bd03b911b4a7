package tool_test

import (
	"encoding/json"
	"testing"

	"collie/internal/tool"
)

// A call needs a person's confirmation if its action is dangerous, or dangerous with an argument that has a non-empty value.
// Malformed arguments count as dangerous.
func TestAsks(t *testing.T) {
	t.Parallel()
	always, never, sometimes := &tool.Action{Dangerous: true}, &tool.Action{}, &tool.Action{DangerousWith: "to"}
	for args, want := range map[string]bool{
		``: false, `{}`: false, `{"from":"x"}`: false, `{"to":null}`: false, `{"to":""}`: false, `{"to": false }`: false, `{"TO":"/x"}`: false,
		`{"to":"/x"}`: true, `{"to":["/x"]}`: true, `{"to":true}`: true, `{"from":1,"to":0}`: true,
		`{"to":"/x"`: true, `[]`: true, `{"to":"","to":"/x"}`: true,
	} {
		if got := sometimes.Asks(json.RawMessage(args)); got != want {
			t.Errorf("a call with %s asks: %t, want %t", args, got, want)
		}
		if !always.Asks(json.RawMessage(args)) || never.Asks(json.RawMessage(args)) {
			t.Errorf("%s: an action that is always dangerous does not ask, or one that never is does", args)
		}
	}
}
