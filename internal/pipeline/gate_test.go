package pipeline_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// terminal is a person who answers and counts the questions.
type terminal struct {
	yes   bool
	asked int
}

func (*terminal) Supports(what tool.Capability) bool { return what == tool.CanConfirm }
func (*terminal) ID() string                         { return "" }
func (*terminal) Capabilities() json.RawMessage      { return json.RawMessage(`{}`) }

func (*terminal) Notify(context.Context, string, json.RawMessage) {}

func (p *terminal) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	p.asked++
	return json.Marshal(map[string]bool{"confirm": p.yes})
}

// A person is asked only about calls that all other stages let pass. The answer is recorded in the call's own
// pair of records.
func TestPeopleAreAskedLast(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	drop := tooltest.Action("drop", `"required":["n"]`)
	drop.Dangerous = true
	hidden, off := drop, drop
	hidden.Name, hidden.DirectOnly = "hidden", true
	off.Name, off.Off = "off", "because"
	r.fake.Publish(tooltest.Offer("srv", drop, hidden, off))
	p := &terminal{}
	for _, tt := range []struct {
		name, args string
		origin     tool.Origin
		yes        bool
		kind       tool.ErrorKind // empty: the call runs
		asked      int
	}{
		{"srv__drop", `{}`, tool.Direct, true, tool.Invalid, 0},
		{"srv__off", `{"n":1}`, tool.Direct, true, tool.Disabled, 0},
		{"srv__drop", `{"n":1}`, tool.Direct, false, tool.Declined, 1},
		{"srv__drop", `{"n":1}`, tool.MCPLocal, true, "", 2},
		{"srv/hidden", `{"n":1}`, tool.MCPLocal, true, tool.Denied, 2},
		{"srv/hidden", `{"n":1}`, tool.Direct, true, "", 3},
	} {
		p.yes = tt.yes
		c := call(tt.name, tt.args)
		c.Origin, c.Caller = tt.origin, p
		_, err := r.Do(t.Context(), c)
		if (err == nil) != (tt.kind == "") || err != nil && tool.KindOf(err) != tt.kind || p.asked != tt.asked {
			t.Errorf("%s %s: %v, asked %d times; want %q, %d", tt.name, tt.args, err, p.asked, tt.kind, tt.asked)
		}
	}
	want := []string{
		"call.start srv srv drop srv__drop", "call.result refused validation_error srv srv drop srv__drop",
		"call.start srv srv off srv__off", "call.result refused disabled_error srv srv off srv__off",
		"call.start srv srv drop srv__drop", "decision srv srv drop srv__drop", "call.result refused confirmation_declined srv srv drop srv__drop",
		"call.start srv srv drop srv__drop", "decision srv srv drop srv__drop", "call.result ok srv srv drop srv__drop",
		"call.start srv srv hidden srv/hidden", "decision srv srv hidden srv/hidden", "call.result refused permission_denied srv srv hidden srv/hidden",
		"call.start srv srv hidden srv/hidden", "decision srv srv hidden srv/hidden", "call.result ok srv srv hidden srv/hidden",
	}
	if d := cmp.Diff(want, r.records(t)); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
}
