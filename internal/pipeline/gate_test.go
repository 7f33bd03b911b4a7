package pipeline_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

// countingPerson is a person who answers and counts the questions.
type countingPerson struct {
	yes   bool
	asked int
}

func (*countingPerson) Supports(what tool.Capability) bool { return what == tool.CanConfirm }
func (*countingPerson) ID() string                         { return "" }
func (*countingPerson) Capabilities() json.RawMessage      { return json.RawMessage(`{}`) }

func (*countingPerson) Notify(context.Context, string, json.RawMessage) {}

func (p *countingPerson) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
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
	p := &countingPerson{}
	for _, tt := range []struct {
		name, args string
		origin     tool.Origin
		yes        bool
		kind       tool.ErrorKind // empty: the call runs
		asked      int
	}{
		{name: "srv__drop", args: `{}`, origin: tool.Direct, yes: true, kind: tool.Invalid},
		{name: "srv__off", args: `{"n":1}`, origin: tool.Direct, yes: true, kind: tool.Disabled},
		{name: "srv__drop", args: `{"n":1}`, origin: tool.Direct, kind: tool.Declined, asked: 1},
		{name: "srv__drop", args: `{"n":1}`, origin: tool.MCPLocal, yes: true, asked: 2},
		{name: "srv/hidden", args: `{"n":1}`, origin: tool.MCPLocal, yes: true, kind: tool.Denied, asked: 2},
		{name: "srv/hidden", args: `{"n":1}`, origin: tool.Direct, yes: true, asked: 3},
	} {
		p.yes = tt.yes
		c := newRequest(tt.name, tt.args)
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
	if d := cmp.Diff(want, r.closeAndRead(t)); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
}

// A person is asked about code that a model runs, whatever harmless command stands beside it.
func TestHarmlessCommandsHideNothing(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.fake.Publish(tooltest.Offer("srv",
		tooltest.Action("execute_code", `"properties":{"code":{"type":"string"}}`), tooltest.Action("run", `"properties":{"command":{"type":"string"}}`)))
	p := &countingPerson{}
	for _, tt := range []struct {
		name, args string
		asked      int
	}{
		{"srv__run", `{"command":"ls"}`, 0},
		{"srv__execute_code", `{"code":"x()","cmd":"ls"}`, 1},
		{"srv__execute_code", `{"cmd":"ls"}`, 2},
	} {
		c := newRequest(tt.name, tt.args)
		c.Origin, c.Caller, c.Session, c.Principal = tool.Chat, p, "s", "p"
		before := p.asked
		_, err := r.Do(t.Context(), c)
		if declined := err != nil && tool.KindOf(err) == tool.Declined; declined != (tt.asked > before) || p.asked != tt.asked {
			t.Errorf("%s %s: %v, asked %d times, want %d", tt.name, tt.args, err, p.asked, tt.asked)
		}
	}
}

// slowPerson is a person who says yes after two seconds.
type slowPerson struct{ countingPerson }

func (p *slowPerson) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	await.Sleep(2 * time.Second)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return p.countingPerson.Ask(ctx, method, params)
}

// The time in which a person thinks does not count against the limit of the call.
func TestPeopleMayThink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		drop := tooltest.Action("drop")
		drop.Dangerous, drop.Timeout = true, time.Second
		r.fake.Publish(tooltest.Offer("srv", drop))
		p := &slowPerson{countingPerson{yes: true}}
		c := newRequest("srv__drop", `{}`)
		c.Caller = p
		if _, err := r.Do(t.Context(), c); err != nil || p.asked != 1 {
			t.Errorf("%v, answered %d times", err, p.asked)
		}
		_ = r.log.Close()
	})
}
