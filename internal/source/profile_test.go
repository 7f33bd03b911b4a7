package source_test

import (
	"strconv"
	"testing"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// A tool that a profile hides looks unknown, whether it is on or off.
func TestHiddenIsUnknownWhereItIsOff(t *testing.T) {
	t.Parallel()
	a := tooltest.Action("do")
	a.Off = "off here"
	tl := tool.Tool{Name: "t", View: tool.Grouped, Actions: []tool.Action{a}}
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{"few": {Hide: []string{"t"}}}}, tooltest.NewFake("t", tool.Offer{Tools: []tool.Tool{tl}}))
	for profile, want := range map[string]tool.ErrorKind{"": "", "few": tool.NotFound} {
		r := toolCall("t", `{"action":"do"}`)
		r.Profile = profile
		call, err := c.Resolve(t.Context(), r)
		if want == "" && (err != nil || call.Action.Off == "") || want != "" && tool.KindOf(err) != want {
			t.Errorf("profile %q: %v, want an error of kind %q", profile, err, want)
		}
	}
}

// A profile can be viewed in another form than its settings say by adding the view to its name.
func TestProfilesInAnotherView(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{
		"some":   {Hide: []string{"git/push"}, Views: map[string]tool.View{"git": tool.Grouped}},
		"x@flat": {Tools: []string{"web"}},
	}},
		tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log"), tooltest.Action("push"))),
		tooltest.NewFake("web", tooltest.Offer("web", tooltest.Action("get"))),
	)
	for profile, shown := range map[string][]string{
		"@flat":        {"git__log", "git__push", "web__get"},
		"@grouped":     {"git", "web"},
		"some":         {"git", "web__get"},
		"some@flat":    {"git__log", "web__get"},
		"some@grouped": {"git", "web"},
		"nobody@flat":  {},
		"some@other":   {},           // no such profile
		"x@flat":       {"web__get"}, // a profile of exactly that name takes precedence
	} {
		checkEqual(t, "profile "+profile, listedNames(t, c, tool.ListTools, profile), shown)
	}
	views := map[string]tool.View{}
	for _, x := range c.Tools("some@grouped") {
		views[x.Name] = x.View
	}
	checkEqual(t, "views", views, map[string]tool.View{"git": tool.Grouped, "web": tool.Grouped})
}

// Tools returns the tools that a profile sees, including those that are switched off.
func TestToolsOfAProfile(t *testing.T) {
	t.Parallel()
	off := tooltest.Action("push")
	off.Off = "not today"
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{"some": {Hide: []string{"git/log", "web"}}}},
		tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log"), off)),
		tooltest.NewFake("web", tooltest.Offer("web", tooltest.Action("get"))),
	)
	var got []string
	for _, x := range c.Tools("some") {
		for _, a := range x.Actions {
			got = append(got, x.Name+" "+a.Name+" "+a.Off)
		}
	}
	checkEqual(t, "tools", got, []string{"git push not today"})
}

// Shown counts a source's Tools without listing them. Tools that are off, and Tools whose actions a profile hides
// altogether, do not count.
func TestShown(t *testing.T) {
	t.Parallel()
	off := tool.Tool{Name: "off", Off: "not here", Actions: []tool.Action{tooltest.Action("do")}}
	offer := tooltest.Offer("git", tooltest.Action("log"), tooltest.Action("push"))
	offer.Tools = append(offer.Tools, off, tool.Tool{Name: "empty"}, tool.Tool{Name: "web", Actions: []tool.Action{tooltest.Action("get")}})
	fake := tooltest.NewFake("git", offer)
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{
		"": {}, "some": {Hide: []string{"git/push", "web"}}, "none": {Tools: []string{"other"}},
	}}, fake)
	for profile, n := range map[string]int{"": 3, "some": 2, "none": 1, "nobody": 1} { // the Tool without actions always counts
		if got := c.Shown(profile, fake); got != n {
			t.Errorf("profile %q shows %d Tools, want %d", profile, got, n)
		}
	}
}

// Lists of all servers are shown to people often, so making them does not copy every action of every server.
func TestToolsCopiesNoActions(t *testing.T) {
	var actions []tool.Action
	for i := range 500 {
		actions = append(actions, tooltest.Action("a"+strconv.Itoa(i)))
	}
	c := openCatalog(t, source.Options{}, tooltest.NewFake("git", tooltest.Offer("git", actions...)))
	if n := testing.AllocsPerRun(10, func() { c.Tools("") }); n > 5 {
		t.Errorf("%.0f allocations", n)
	}
}
