package mcpserver_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"collie/internal/mcp"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// openInProfile opens a session in a profile. The client records the notifications about changed lists.
func (w *world) openInProfile(t *testing.T, era, profile string) *client {
	t.Helper()
	c := &client{notifications: make(chan mcp.Message, 100)}
	c.connect(t, mcp.DialHTTP(w.url+"?profile="+url.QueryEscape(profile), c, nil), era)
	if era == modern {
		go func() { _, _ = c.request(t, "subscriptions/listen", everyList) }()
		if got := c.awaitNotification(t); !strings.HasPrefix(got, "notifications/subscriptions/acknowledged ") {
			t.Fatal(got)
		}
	}
	return c
}

const everyList = `{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}}`

// awaitChanges returns the kinds of the lists that a client is notified about, up to and including last.
func (c *client) awaitChanges(t *testing.T, last string) (told []string) {
	t.Helper()
	for len(told) == 0 || told[len(told)-1] != last {
		method, _, _ := strings.Cut(c.awaitNotification(t), " ")
		told = append(told, strings.TrimSuffix(strings.TrimPrefix(method, "notifications/"), "/list_changed"))
	}
	return told
}

// TestChangedListsAreTold: a client is notified only if its own list changed, and then it gets the new list. A change of
// something that its profile hides or its view does not show is not reported, nor is an offer without any difference.
func TestChangedListsAreTold(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string]string{
		"":            "tools tools prompts", // a changed schema that the others do not see, a new action, a new prompt
		"@grouped":    "tools tools prompts",
		"@search":     "tools prompts",
		"few":         "tools prompts",
		"few@grouped": "tools prompts",
		"nothing":     "",
		"unknown":     "",
	} {
		for _, era := range []string{legacy, modern} {
			t.Run(profile+" "+era, func(t *testing.T) {
				t.Parallel()
				offer := tooltest.Offer("s", tooltest.Action("echo"), tooltest.Action("other"))
				offer.Prompts = []tool.Prompt{tooltest.Prompt("greet")}
				w := serveSource(t, tooltest.NewFake("s", offer), map[string]source.Profile{
					"":        {},
					"few":     {Hide: []string{"s/echo"}},
					"nothing": {Hide: []string{"s"}},
				})
				c, all := w.openInProfile(t, era, profile), w.openInProfile(t, era, "")
				for _, each := range []*client{c, all} {
					if _, err := each.request(t, "tools/list", `{}`); err != nil {
						t.Fatal(err)
					}
				}
				next := func(kinds []tool.ChangeKind, change func(*tool.Offer)) {
					o := *w.fake.Offer()
					o.Tools = slices.Clone(o.Tools)
					o.Tools[0].Actions = slices.Clone(o.Tools[0].Actions)
					change(&o)
					w.fake.Publish(o, kinds...)
				}
				tools := []tool.ChangeKind{tool.ToolsChanged}
				w.fake.Publish(*w.fake.Offer()) // nothing is different
				next(tools, func(o *tool.Offer) {
					o.Tools[0].Actions[0] = tooltest.Action("echo", `"properties":{"more":{"type":"string"}}`)
				})
				heard := all.awaitChanges(t, "tools")
				next(tools, func(o *tool.Offer) { o.Tools[0].Actions = append(o.Tools[0].Actions, tooltest.Action("late")) })
				heard = append(heard, all.awaitChanges(t, "tools")...)
				if list, err := all.request(t, "tools/list", `{}`); err != nil || !strings.Contains(list, "s__late") {
					t.Errorf("told of a change, the list is still %s, %v", list, err)
				}
				next([]tool.ChangeKind{tool.PromptsChanged}, func(o *tool.Offer) { o.Prompts = append(o.Prompts, tooltest.Prompt("part")) })
				heard = append(heard, all.awaitChanges(t, "prompts")...)
				if got := strings.Join(heard, " "); got != "tools tools prompts" {
					t.Errorf("who sees everything heard of %s", got)
				}
				if want == "" {
					if len(c.notifications) > 0 {
						t.Errorf("who sees nothing heard of %v", c.awaitNotification(t))
					}
					return
				}
				if got := strings.Join(c.awaitChanges(t, "prompts"), " "); got != want {
					t.Errorf("heard of %s, want %s", got, want)
				}
				if list, err := c.request(t, "tools/list", `{}`); err != nil || !strings.Contains(list, "late") && !strings.Contains(list, "3 tools") {
					t.Errorf("told of changes, the list is still %s, %v", list, err)
				}
			})
		}
	}
}
