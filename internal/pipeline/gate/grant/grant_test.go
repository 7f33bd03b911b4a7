package grant_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"collie/internal/pipeline/gate/grant"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// newNotesCall returns a call that touches one document.
func newNotesCall() *grant.Asked {
	a := tooltest.Action("rm")
	a.Risk, a.Effects, a.Dangerous, a.Definition = tool.RiskHigh, tool.EffectWrite|tool.EffectDelete, true, json.RawMessage(`{"name":"rm"}`)
	return &grant.Asked{
		Call: &tool.Call{
			Request: tool.Request{Kind: tool.KindCall, Name: "fs__rm", Origin: tool.Chat, Principal: "ada", Session: "s1", Parent: "t1:3"},
			Source:  tooltest.NewFake("siyuan", tooltest.Offer("fs", a)), Tool: "fs", Action: &a, Args: json.RawMessage(`{}`),
		},
		Risk:    tool.RiskHigh,
		Touches: []tool.Touch{{Kind: tool.TouchNotes, Value: "box/a/b", Notebook: "Work", Document: "/Plans/2030"}},
	}
}

// newForeignCall returns a call of another server's tool.
func newForeignCall(name string, risk tool.Risk, touches ...tool.Touch) *grant.Asked {
	q := newNotesCall()
	a := tooltest.Action(name)
	q.Call.Action, q.Risk, q.Touches = &a, risk, touches
	return q
}

func fileTouch(path string) tool.Touch     { return tool.Touch{Kind: tool.TouchFile, Value: path} }
func hostTouch(at string) tool.Touch       { return tool.Touch{Kind: tool.TouchHost, Value: at} }
func commandTouch(words string) tool.Touch { return tool.Touch{Kind: tool.TouchCommand, Value: words} }

func documentTouch(place string) tool.Touch { return tool.Touch{Kind: tool.TouchNotes, Value: place} }

// offerTexts returns the offers as "scope kind name".
func offerTexts(q *grant.Asked) (out []string) {
	for _, g := range grant.Offers(q, now) {
		out = append(out, string(g.Scope)+" "+string(g.Constraint.Kind)+" "+g.Constraint.Name)
	}
	return out
}

func TestOffers(t *testing.T) {
	t.Parallel()
	two := newNotesCall()
	two.Touches = append(two.Touches, documentTouch("box/c"))
	boxes := newNotesCall()
	boxes.Touches = append(boxes.Touches, documentTouch("box2/c"))
	unknown := newNotesCall()
	unknown.Touches = nil
	for name, tt := range map[string]struct {
		asked *grant.Asked
		want  []string
	}{
		"a document": {asked: newNotesCall(), want: []string{
			"turn notebook Work", "session subtree /Work/Plans/2030", "session notebook Work", "always subtree /Work/Plans/2030", "always notebook Work",
		}},
		"two documents":           {asked: two, want: []string{"turn notebook Work", "session notebook Work", "always notebook Work"}},
		"two notebooks":           {asked: boxes},
		"nobody knows, and high":  {asked: unknown},
		"a file":                  {asked: newForeignCall("write_file", tool.RiskMedium, fileTouch("/home/ada/site/a.go")), want: []string{"turn path /home/ada/site", "session path /home/ada/site", "always path /home/ada/site"}},
		"two files":               {asked: newForeignCall("move", tool.RiskMedium, fileTouch("/home/ada/site/x/a"), fileTouch("/home/ada/site/y/b")), want: []string{"turn path /home/ada/site", "session path /home/ada/site", "always path /home/ada/site"}},
		"a file of the home":      {asked: newForeignCall("write_file", tool.RiskMedium, fileTouch("/home/ada/a"))},
		"files far apart":         {asked: newForeignCall("move", tool.RiskMedium, fileTouch("/home/ada/site/x/a"), fileTouch("/srv/www/site/b"))},
		"a file that is sent":     {asked: newForeignCall("send_file", tool.RiskHigh, fileTouch("/home/ada/site/a.go"))},
		"a host":                  {asked: newForeignCall("fetch", tool.RiskMedium, hostTouch("https://go.dev")), want: []string{"turn host https://go.dev", "session host https://go.dev", "always host https://go.dev"}},
		"two hosts":               {asked: newForeignCall("fetch", tool.RiskMedium, hostTouch("https://go.dev"), hostTouch("https://x.org"))},
		"a payment":               {asked: newForeignCall("pay_at", tool.RiskHigh, hostTouch("https://go.dev"))},
		"a command":               {asked: newForeignCall("run", tool.RiskHigh, commandTouch("go\ntest\n./...")), want: []string{"turn command go test …", "session command go test …", "always command go test …"}},
		"a command without a sub": {asked: newForeignCall("run", tool.RiskHigh, commandTouch("rm\nbuild")), want: []string{"turn command rm build", "session command rm build", "always command rm build"}},
		"only a word is a sub":    {asked: newForeignCall("run", tool.RiskHigh, commandTouch("git\n-c\nx=y\npush")), want: []string{"turn command git -c x=y push", "session command git -c x=y push", "always command git -c x=y push"}},
		"nothing that is a place": {asked: newForeignCall("add_task", tool.RiskMedium), want: []string{"turn any ", "session any "}},
		"the same of high risk":   {asked: newForeignCall("add_task", tool.RiskHigh)},
		"critical":                {asked: newForeignCall("run", tool.RiskCritical, commandTouch("go\ntest"))},
	} {
		if got := offerTexts(tt.asked); !slices.Equal(got, tt.want) {
			t.Errorf("%s: offered %q, want %q", name, got, tt.want)
		}
	}
	for _, g := range grant.Offers(newNotesCall(), now) {
		if !g.Covers(newNotesCall()) || g.Expires.IsZero() || g.Expires.Sub(now) > 30*24*time.Hour || g.ID == "" || g.Uses != 0 {
			t.Errorf("%+v", g)
		}
	}
	for _, g := range grant.Offers(newForeignCall("fetch", tool.RiskMedium, hostTouch("https://go.dev")), now) {
		if g.Expires.IsZero() != (g.Scope == grant.Always) {
			t.Errorf("%+v", g)
		}
	}
}

// No grant is offered to callers outside of conversations, or for a definition that is not accepted.
func TestNothingIsOffered(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*grant.Asked){
		"a client":               func(q *grant.Asked) { q.Call.Origin = tool.MCPLocal },
		"a remote client":        func(q *grant.Asked) { q.Call.Origin = tool.MCPRemote },
		"a person":               func(q *grant.Asked) { q.Call.Origin = tool.Direct },
		"no session":             func(q *grant.Asked) { q.Call.Session = "" },
		"a changed definition":   func(q *grant.Asked) { q.Call.Action.Changed = true },
		"an unknown risk":        func(q *grant.Asked) { q.Risk = "" },
		"a guardian that failed": func(q *grant.Asked) { q.Risk = tool.ReviewFailed },
	} {
		q := newNotesCall()
		if change(q); q.Grantable() || len(grant.Offers(q, now)) > 0 {
			t.Errorf("%s: offered %q", name, offerTexts(q))
		}
	}
}

// A call that differs in anything that counts is not covered.
func TestCovers(t *testing.T) {
	t.Parallel()
	offers := grant.Offers(newNotesCall(), now)
	by := map[string]*grant.Grant{}
	for i := range offers {
		by[string(offers[i].Scope)+" "+string(offers[i].Constraint.Kind)] = &offers[i]
	}
	check := func(name string, change func(*grant.Asked), want ...string) {
		t.Helper()
		q := newNotesCall()
		change(q)
		for which, g := range by {
			if got := g.Covers(q); got != slices.Contains(want, which) {
				t.Errorf("%s: %s covers it: %t", name, which, got)
			}
		}
	}
	all := []string{"turn notebook", "session subtree", "session notebook", "always subtree", "always notebook"}
	check("the same", func(*grant.Asked) {}, all...)
	check("other arguments", func(q *grant.Asked) { q.Call.Args = json.RawMessage(`{"a":1}`) }, all...)
	check("another step", func(q *grant.Asked) { q.Call.Parent = "t1:9" }, all...)
	check("less risk", func(q *grant.Asked) { q.Risk = tool.RiskMedium }, all...)
	check("another turn", func(q *grant.Asked) { q.Call.Parent = "t2:1" }, all[1:]...)
	check("no turn", func(q *grant.Asked) { q.Call.Parent = "" }, all[1:]...)
	check("another session", func(q *grant.Asked) { q.Call.Session = "s2" }, all[3:]...)
	check("a document below", func(q *grant.Asked) { q.Touches[0].Value = "box/a/b/c" }, all...)
	inNotebook := []string{"turn notebook", "session notebook", "always notebook"}
	check("the document above", func(q *grant.Asked) { q.Touches[0].Value = "box/a" }, inNotebook...)
	check("a name that goes on", func(q *grant.Asked) { q.Touches[0].Value = "box/a/bb" }, inNotebook...)
	check("one more document", func(q *grant.Asked) { q.Touches = append(q.Touches, documentTouch("box/z")) }, inNotebook...)
	check("the whole notebook", func(q *grant.Asked) { q.Touches[0].Value = "box" }, inNotebook...)
	check("another notebook", func(q *grant.Asked) { q.Touches[0].Value = "box2/a/b" })
	check("one more notebook", func(q *grant.Asked) { q.Touches = append(q.Touches, documentTouch("box2")) })
	check("nobody knows", func(q *grant.Asked) { q.Touches = nil })
	check("a file", func(q *grant.Asked) { q.Touches[0].Kind = tool.TouchFile })
	check("more risk", func(q *grant.Asked) { q.Risk = tool.RiskCritical })
	check("another principal", func(q *grant.Asked) { q.Call.Principal = "eve" })
	check("another origin", func(q *grant.Asked) { q.Call.Origin = tool.CLIAgent })
	check("a client", func(q *grant.Asked) { q.Call.Origin = tool.MCPLocal })
	check("another source", func(q *grant.Asked) { q.Call.Source = tooltest.NewFake("other", tooltest.Offer("fs")) })
	check("another tool", func(q *grant.Asked) { q.Call.Tool = "block" })
	check("another action", func(q *grant.Asked) { q.Call.Action.Name = "mv" })
	check("a rule that found something", func(q *grant.Asked) { q.Call.Finding = &tool.Finding{Ask: true, Rule: "path.many"} })
	check("a rule that allows", func(q *grant.Asked) { q.Call.Finding = &tool.Finding{Rule: "command.known"} }, all...)
	for name, change := range map[string]func(*tool.Action){
		"definition":  func(a *tool.Action) { a.Definition = json.RawMessage(`{"name":"rm","x":1}`) },
		"description": func(a *tool.Action) { a.Description += "." },
		"schema":      func(a *tool.Action) { a.InputSchema = json.RawMessage(`{"type":"object","x":1}`) },
		"hints":       func(a *tool.Action) { a.ReadOnly = !a.ReadOnly },
		"risk":        func(a *tool.Action) { a.Risk = tool.RiskMedium },
		"accepted":    func(a *tool.Action) { a.Changed = true },
	} {
		check("another "+name, func(q *grant.Asked) { change(q.Call.Action) })
	}
}

// A grant for a rule's finding covers only that rule, and a command constraint covers no more than its
// words.
func TestCommands(t *testing.T) {
	t.Parallel()
	asked := func(words string) *grant.Asked {
		q := newForeignCall("run", tool.RiskHigh, commandTouch(words))
		q.Call.Finding = &tool.Finding{Ask: true, Rule: "command.unknown"}
		return q
	}
	first := grant.Offers(asked("git\npush\norigin"), now)[0]
	for words, want := range map[string]bool{
		"git\npush": true, "git\npush\n--force": true, "git\npushx": false, "git\npull": false, "git": false, "sudo\ngit\npush": false, "git push": false,
	} {
		if got := first.Covers(asked(words)); got != want {
			t.Errorf("%q: %t", words, got)
		}
	}
	other := asked("git\npush")
	if other.Call.Finding.Rule = "command.environment"; first.Covers(other) {
		t.Error("it covers what another rule found")
	}
	exact := grant.Offers(asked("rm\nbuild"), now)[0]
	if exact.Covers(asked("rm\nbuild\n/home")) || !exact.Covers(asked("rm\nbuild")) {
		t.Error("a whole command is not covered as such")
	}
	two := asked("git\npush")
	if two.Touches = append(two.Touches, commandTouch("git\npush")); len(grant.Offers(two, now)) > 0 {
		t.Error("two commands are offered as one")
	}
}
