package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/pipeline/gate"
	"collie/internal/pipeline/gate/grant"
	"collie/internal/pipeline/gate/grant/granttest"
	"collie/internal/tool"
)

// grantingStage is a stage with grants, and the decisions that it reported.
type grantingStage struct {
	stage   *gate.Stage
	store   *granttest.Memory
	opened  int
	records []tool.Decision
	given   []grant.Grant
}

func newGranting() *grantingStage {
	g := &grantingStage{store: &granttest.Memory{}}
	g.stage = gate.New(gate.Options{
		Grants:  func(context.Context) (grant.Store, error) { g.opened++; return g.store, nil },
		Decided: func(_ *tool.Call, d tool.Decision) { g.records = append(g.records, d) },
		Given:   func(_ *tool.Call, given *grant.Grant) { g.given = append(g.given, *given) },
	})
	return g
}

// storedGrants returns the grants in the store.
func (g *grantingStage) storedGrants(t *testing.T) []grant.Grant {
	t.Helper()
	all, err := g.store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// planInNotebook returns a plan for one document of a notebook.
func planInNotebook(box string) tool.Plan {
	p := examplePlan
	p.Touches = []tool.Touch{{Kind: tool.TouchNotes, Value: box + "/doc", Notebook: "工作", Document: "/Plans"}}
	return p
}

// newChatCall returns a dangerous call of a conversation on a document of notebook box.
func newChatCall(caller tool.Caller) *tool.Call {
	c := newRemoveCall(caller)
	c.Origin, c.Session, c.Parent, c.Action.Risk = tool.Chat, "s1", "t1:0", tool.RiskHigh
	src := c.Source.(bindingSource)
	src.prepare = func(*tool.Call) (tool.Plan, error) { return planInNotebook("box"), nil }
	c.Source = src
	return c
}

// personWhoGrants returns a person who chooses the first offered grant of a scope and a kind.
func personWhoGrants(t *testing.T, scope, kind string) *fakePerson {
	t.Helper()
	return &fakePerson{can: []tool.Capability{tool.CanConfirm}, answer: func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
		id := gjson.GetBytes(params, fmt.Sprintf(`grants.#(scope==%q)#|#(kind==%q).id`, scope, kind)).String()
		if id == "" {
			t.Errorf("no grant of scope %s and kind %s in %s", scope, kind, params)
		}
		return fmt.Appendf(nil, `{"confirm":true,"grant":%q}`, id), nil
	}}
}

func TestAGrantIsGivenAndUsed(t *testing.T) {
	t.Parallel()
	g := newGranting()
	who := personWhoGrants(t, "session", "notebook")
	mustRun(t, g.stage, newChatCall(who))
	all := g.storedGrants(t)
	if len(all) != 1 || all[0].Uses != 1 || all[0].Scope != grant.Session || len(g.given) != 1 || g.given[0].ID != all[0].ID {
		t.Fatalf("kept %+v, on record %+v", all, g.given)
	}
	mustRun(t, g.stage, newChatCall(who))
	mustRun(t, g.stage, newChatCall(nil)) // with no caller that could be asked
	if len(who.asked) != 1 || g.storedGrants(t)[0].Uses != 3 {
		t.Errorf("asked %d times, %d uses", len(who.asked), g.storedGrants(t)[0].Uses)
	}
	for i, want := range []string{"program", "grant", "grant"} {
		if r := g.records[i]; r.Verdict != tool.Allowed || r.Approver != want || r.Grant != all[0].ID || r.Rule != "must-ask" && r.Stage != "gate" {
			t.Errorf("record %d: %+v", i, r)
		}
	}
	elsewhere := newChatCall(nil)
	elsewhere.Source = bindingSource{elsewhere.Source.(bindingSource).Fake, func(*tool.Call) (tool.Plan, error) { return planInNotebook("box2"), nil }}
	mustRefuse(t, g.stage, elsewhere, tool.Unconfirmed)
	if _, err := g.store.Revoke(t.Context(), all[0].ID); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, g.stage, newChatCall(nil), tool.Unconfirmed)
}

// An answer with a grant that was not offered counts as a no, and nothing is stored.
func TestForgedGrants(t *testing.T) {
	t.Parallel()
	g := newGranting()
	var earlier string
	ask := &fakePerson{can: []tool.Capability{tool.CanConfirm}, answer: func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
		earlier = gjson.GetBytes(params, "grants.0.id").String()
		return json.RawMessage(`{"confirm":true}`), nil
	}}
	mustRun(t, g.stage, newChatCall(ask))
	if earlier == "" || len(g.storedGrants(t)) != 0 {
		t.Fatalf("offered %q, kept %v", earlier, g.storedGrants(t))
	}
	for _, answer := range []string{
		`{"confirm":true,"grant":"gaaaaaaaaaaaaaaaa"}`, `{"confirm":true,"grant":""}`, `{"confirm":true,"grant":true}`, `{"confirm":true,"grant":null}`,
		`{"confirm":true,"grant":{"scope":"always","kind":"any"}}`, `{"confirm":true,"grant":"` + earlier + `"}`, `{"confirm":false,"grant":"` + earlier + `"}`,
	} {
		mustRefuse(t, g.stage, newChatCall(personWhoAnswers(tool.CanConfirm, answer)), tool.Declined)
	}
	if len(g.storedGrants(t)) != 0 || len(g.given) != 0 {
		t.Errorf("kept %v, on record %v", g.storedGrants(t), g.given)
	}
}

// Nothing is offered to MCP clients, about critical calls, or to persons at their own calls, and no grant is looked up.
func TestNoGrants(t *testing.T) {
	t.Parallel()
	g := newGranting()
	form := func(params json.RawMessage) bool { return !gjson.GetBytes(params, "grants").Exists() }
	for name, change := range map[string]func(*tool.Call){
		"a client":       func(c *tool.Call) { c.Origin = tool.MCPLocal },
		"a person":       func(c *tool.Call) { c.Origin = tool.Direct },
		"critical":       func(c *tool.Call) { c.Action.Risk = tool.RiskCritical },
		"changed":        func(c *tool.Call) { c.Action.Changed = true },
		"a bare session": func(c *tool.Call) { c.Session = "" },
	} {
		who := &fakePerson{can: []tool.Capability{tool.CanConfirm}, answer: func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
			return fmt.Appendf(nil, `{"confirm":true,"name":%q}`, gjson.GetBytes(params, "name").String()), nil
		}}
		c := newChatCall(who)
		change(c)
		if mustRun(t, g.stage, c); len(who.asked) != 1 || !form(who.lastQuestion) {
			t.Errorf("%s: asked %v with %s", name, who.asked, who.lastQuestion)
		}
	}
	c := newChatCall(personWhoAnswers(tool.CanElicit, `{"action":"accept","content":{"confirm":true,"grant":"x"}}`))
	c.Origin = tool.MCPLocal
	mustRefuse(t, g.stage, c, tool.Declined)
	harmless := newChatCall(nil)
	harmless.Action.Dangerous, harmless.Action.Risk = false, tool.RiskLow
	mustRun(t, g.stage, harmless)
	if g.opened != 0 {
		t.Errorf("grants were looked up %d times", g.opened)
	}
	// A forged grant in the store does not let a critical call run.
	forged := granttest.Sample(1)
	forged.Risk, forged.Source, forged.Tool, forged.Action = tool.RiskCritical, "siyuan", "notebook", "remove"
	if err := g.store.Add(t.Context(), &forged); err != nil {
		t.Fatal(err)
	}
	critical := newChatCall(nil)
	critical.Action.Risk = tool.RiskCritical
	mustRefuse(t, g.stage, critical, tool.Unconfirmed)
}

// If the plan changed before the person agreed, the call does not run and no grant is stored.
func TestGrantForWhatHasChanged(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]tool.Plan{
		"another notebook":   planInNotebook("box2"),
		"nobody knows where": examplePlan,
		"one more": func() tool.Plan {
			p := planInNotebook("box")
			p.Touches = append(p.Touches, p.Touches[0])
			return p
		}(),
	} {
		g := newGranting()
		c := newChatCall(personWhoGrants(t, "session", "notebook"))
		shown := false
		c.Source = bindingSource{c.Source.(bindingSource).Fake, func(*tool.Call) (tool.Plan, error) {
			if shown {
				return later, nil
			}
			shown = true
			return planInNotebook("box"), nil
		}}
		_ = mustRefuse(t, g.stage, c, tool.StateChanged)
		if len(g.storedGrants(t)) != 0 || len(g.given) != 0 {
			t.Errorf("%s: kept %v", name, g.storedGrants(t))
		}
	}
}

// The path of a foreign tool is resolved again after the person agreed.
func TestGrantForAPathThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	store := &granttest.Memory{}
	at := "/home/ada/site/a"
	s := gate.New(gate.Options{
		Grants:  func(context.Context) (grant.Store, error) { return store, nil },
		Touches: func(*tool.Call) []tool.Touch { return []tool.Touch{{Kind: tool.TouchFile, Value: at}} },
	})
	who := personWhoGrants(t, "always", "path")
	call := func() *tool.Call {
		c := newChatCall(who)
		c.Source = c.Source.(bindingSource).Fake
		return c
	}
	choose := who.answer
	who.answer = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		at = "/home/ada/secrets/a"
		return choose(ctx, method, params)
	}
	mustRefuse(t, s, call(), tool.StateChanged)
	at, who.answer = "/home/ada/site/a", choose
	mustRun(t, s, call())
	at = "/home/ada/site/b"
	if mustRun(t, s, call()); len(who.asked) != 2 {
		t.Errorf("asked %d times", len(who.asked))
	}
	at, who.answer = "/home/ada/secrets/b", personWhoAnswers("", `{"confirm":false}`).answer
	mustRefuse(t, s, call(), tool.Declined)
}

// If grants cannot be read or stored, the person is asked, and the call they agree to runs once.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	g := newGranting()
	g.store.Fail = errors.New("the disk is full")
	for range 2 {
		who := personWhoGrants(t, "session", "notebook")
		if mustRun(t, g.stage, newChatCall(who)); len(who.asked) != 1 {
			t.Errorf("asked %d times", len(who.asked))
		}
	}
	for _, r := range g.records {
		if r.Grant != "" || r.Approver != "program" {
			t.Errorf("record %+v", r)
		}
	}
}

// A grant is revoked while one call waits for a person and another is about to use it: the second needs a question, and
// the first still needs its answer.
func TestRevokedWhileACallWaits(t *testing.T) {
	t.Parallel()
	g := newGranting()
	mustRun(t, g.stage, newChatCall(personWhoGrants(t, "session", "notebook")))
	id := g.storedGrants(t)[0].ID
	waits, answer := make(chan bool), make(chan bool)
	other := newChatCall(&fakePerson{can: []tool.Capability{tool.CanConfirm}, answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		close(waits)
		return fmt.Appendf(nil, `{"confirm":%t}`, <-answer), nil
	}})
	other.Source = bindingSource{other.Source.(bindingSource).Fake, func(*tool.Call) (tool.Plan, error) { return planInNotebook("box2"), nil }}
	var ended sync.WaitGroup
	var err error
	ended.Go(func() { _, err = g.stage.Check(t.Context(), other) })
	<-waits
	if _, err := g.store.Revoke(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, g.stage, newChatCall(nil), tool.Unconfirmed)
	answer <- false
	if ended.Wait(); tool.KindOf(err) != tool.Declined {
		t.Errorf("the waiting call: %v", err)
	}
}

// A hundred calls run at once, each with a person who grants: each stored grant was chosen once.
func TestManyGrantsAtOnce(t *testing.T) {
	t.Parallel()
	store := &granttest.Memory{}
	s := gate.New(gate.Options{Grants: func(context.Context) (grant.Store, error) { return store, nil }})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, err := s.Check(t.Context(), newChatCall(personWhoGrants(t, "session", "notebook"))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	kept, err := store.List(t.Context())
	uses := 0
	for _, g := range kept {
		uses += g.Uses
	}
	if err != nil || uses != 100 {
		t.Errorf("%d grants with %d uses, %v", len(kept), uses, err)
	}
}
