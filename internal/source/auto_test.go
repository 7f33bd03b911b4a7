package source_test

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/catalogs"
)

// sourcesOf returns a source for each recorded server.
func sourcesOf(servers []catalogs.Server) []tool.Source {
	var out []tool.Source
	for _, s := range servers {
		out = append(out, tooltest.NewFake(s.Name, tool.Offer{Tools: []tool.Tool{s.Tool()}}))
	}
	return out
}

// autoProfiles returns profiles in which each Tool's view is chosen automatically, within a budget of bytes.
func autoProfiles(budget int) map[string]source.Profile {
	return map[string]source.Profile{"": {Default: tool.Auto, Budget: budget}}
}

// viewsOf returns the view in which a profile shows each Tool.
func viewsOf(c *source.Catalog, profile string) map[string]tool.View {
	out := map[string]tool.View{}
	for _, t := range c.Tools(profile) {
		out[t.Name] = t.View
	}
	return out
}

// TestSizesOfViews: the list of a thousand tools of fifty servers stays within the size allowed for each view.
func TestSizesOfViews(t *testing.T) {
	t.Parallel()
	profiles := autoProfiles(16 << 10)
	for _, v := range []tool.View{tool.Flat, tool.Grouped, tool.Search} {
		profiles[string(v)] = source.Profile{View: v}
	}
	c := openCatalog(t, source.Options{Profiles: profiles}, sourcesOf(catalogs.Fifty())...)
	size := map[string]int{}
	for profile := range profiles {
		raw, _ := c.List(t.Context(), tool.ListTools, profile)
		size[profile] = len(raw)
	}
	t.Logf("flat %d bytes, grouped %d (%.1f %%), search %d, auto %d", size["flat"], size["grouped"], 100*float64(size["grouped"])/float64(size["flat"]), size["search"], size[""])
	if size["grouped"]*100 > size["flat"]*8 {
		t.Errorf("grouped takes %d bytes, flat %d: want 8 %% at most", size["grouped"], size["flat"])
	}
	if most := 2<<10 + 32*50 + len(`{"tools":[,,]}`); size["search"] > most {
		t.Errorf("search takes %d bytes, want %d at most", size["search"], most)
	}
	if size[""] > 16<<10 {
		t.Errorf("auto takes %d bytes, its budget is %d", size[""], 16<<10)
	}
}

// TestAutoFits: servers are flat while the list fits, then the largest are grouped, then put behind the search. The
// list is within the budget wherever any choice of views is.
func TestAutoFits(t *testing.T) {
	t.Parallel()
	servers := catalogs.Servers()
	flat, _ := openCatalog(t, source.Options{}, sourcesOf(servers)...).List(t.Context(), tool.ListTools, "")
	seen := map[tool.View]bool{}
	for _, budget := range []int{1, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 40 << 10, 100 << 10, len(flat) - 1, len(flat)} {
		c := openCatalog(t, source.Options{Profiles: autoProfiles(budget)}, sourcesOf(servers)...)
		raw, _ := c.List(t.Context(), tool.ListTools, "")
		least := 2<<10 + 32*len(servers) + len(`{"tools":[,,]}`)
		if len(raw) > max(budget, least) {
			t.Errorf("budget %d: the list takes %d bytes", budget, len(raw))
		}
		views := viewsOf(c, "")
		for _, v := range views {
			seen[v] = true
		}
		if budget == len(flat) && !bytes.Equal(raw, flat) {
			t.Errorf("what fits flat is shown as %v", views)
		}
		again, _ := openCatalog(t, source.Options{Profiles: autoProfiles(budget)}, sourcesOf(servers)...).List(t.Context(), tool.ListTools, "")
		if !bytes.Equal(raw, again) {
			t.Errorf("budget %d: another catalog of the same servers gives another list", budget)
		}
	}
	if len(seen) != 3 {
		t.Errorf("only the views %v were chosen", seen)
	}
	c := openCatalog(t, source.Options{Profiles: autoProfiles(len(flat) - 1)}, sourcesOf(servers)...)
	for name, v := range viewsOf(c, "") {
		if (v == tool.Grouped) != (name == "linear") {
			t.Errorf("a byte short of all flat, %s is %s; only the largest server has to be grouped", name, v)
		}
	}
}

// memoryChoices stores choices in memory.
type memoryChoices struct {
	choices map[string]source.Choice
	saved   chan string
}

func (r *memoryChoices) Load() map[string]source.Choice { return maps.Clone(r.choices) }
func (r *memoryChoices) Save(profile string, c source.Choice) {
	r.choices[profile] = c
	r.saved <- profile
}

func (r *memoryChoices) Clear() error {
	clear(r.choices)
	return nil
}

// TestAutoStays: a server keeps the view in which it was shown, in this process and the next, until a user
// rebalances; that change is logged. Names from before still resolve.
func TestAutoStays(t *testing.T) {
	t.Parallel()
	servers := catalogs.Servers()
	by := map[string]catalogs.Server{}
	for _, s := range servers {
		by[s.Name] = s
	}
	var log bytes.Buffer
	store := &memoryChoices{map[string]source.Choice{}, make(chan string, 10)}
	first := []catalogs.Server{by["git"]}
	alone, _ := openCatalog(t, source.Options{}, sourcesOf(first)...).List(t.Context(), tool.ListTools, "")
	opts := source.Options{Profiles: autoProfiles(len(alone) + 8<<10), Chosen: store, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	c := openCatalog(t, opts, sourcesOf(first)...)
	flat := listedNames(t, c, tool.ListTools, "")
	if got := viewsOf(c, "")["git"]; got != tool.Flat || len(flat) != 28 {
		t.Fatalf("git alone is %s with %d tools", got, len(flat))
	}
	<-store.saved
	c.Close()

	c = openCatalog(t, opts, sourcesOf([]catalogs.Server{by["linear"], by["git"]})...) // a large one, in front
	checkEqual(t, "views", viewsOf(c, ""), map[string]tool.View{"git": tool.Flat, "linear": tool.Grouped})
	list, _ := c.List(t.Context(), tool.ListTools, "")
	<-store.saved
	checkEqual(t, "kept", store.choices[""].Views, map[string]tool.View{"git": tool.Flat, "linear": tool.Grouped})
	c.Set(sourcesOf([]catalogs.Server{by["linear"], by["git"]}), opts.Profiles, nil)
	if again, _ := c.List(t.Context(), tool.ListTools, ""); !bytes.Equal(list, again) {
		t.Error("the same servers give another list")
	}
	if strings.Contains(log.String(), "another form") {
		t.Errorf("nothing has changed, and the log says %s", log.String())
	}

	opts.Profiles = autoProfiles(6 << 10) // a change by the user
	c.Set(sourcesOf([]catalogs.Server{by["linear"], by["git"]}), opts.Profiles, nil)
	now := listedNames(t, c, tool.ListTools, "")
	<-store.saved
	if slices.Contains(now, flat[0]) || !strings.Contains(log.String(), "another form") || !strings.Contains(log.String(), flat[0]) {
		t.Errorf("shown are %v, and the log says %s", now, log.String())
	}
	for _, name := range flat {
		if call, err := c.Resolve(t.Context(), toolCall(name, "{}")); err != nil || call.Action == nil || "git__"+call.Action.Name != name {
			t.Errorf("%s, which was listed, is now %+v, %v", name, call, err)
		}
	}
}

// TestRebalance: after it, views once chosen for servers that are gone do not keep another server from being flat.
func TestRebalance(t *testing.T) {
	t.Parallel()
	store := &memoryChoices{map[string]source.Choice{"": {Budget: 16 << 10, Views: map[string]tool.View{"git": tool.Search, "old": tool.Flat}}}, make(chan string, 10)}
	one := tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("push")))
	c := openCatalog(t, source.Options{Profiles: autoProfiles(16 << 10), Chosen: store}, one)
	checkEqual(t, "names", listedNames(t, c, tool.ListTools, ""), []string{"collie_find", "collie_describe", "collie_call"})
	if err := c.Rebalance(); err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "names", listedNames(t, c, tool.ListTools, ""), []string{"git__push"})
	<-store.saved
	checkEqual(t, "kept", store.choices[""].Views, map[string]tool.View{"git": tool.Flat})
}

// TestAutoWaits: nothing is stored while a server has not yet told its tools.
func TestAutoWaits(t *testing.T) {
	t.Parallel()
	store := &memoryChoices{map[string]source.Choice{}, make(chan string, 10)}
	late := &lateSource{Fake: tooltest.NewFake("late", tool.Offer{}), told: make(chan struct{})}
	c := openCatalog(t, source.Options{Profiles: autoProfiles(16 << 10), Chosen: store},
		tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("push"))), late)
	checkEqual(t, "names", listedNames(t, c, tool.ListTools, ""), []string{"git__push"})
	close(late.told)
	select {
	case profile := <-store.saved:
		t.Errorf("the choice for %q was kept before all servers were heard", profile)
	default:
	}
	listedNames(t, c, tool.ListTools, "")
	<-store.saved
	checkEqual(t, "kept", store.choices[""].Views, map[string]tool.View{"git": tool.Flat})
}

// TestWhoChose: settings of a view apply in order of precedence, and Why names the one that did.
func TestWhoChose(t *testing.T) {
	t.Parallel()
	said := tooltest.Offer("said", tooltest.Action("a"))
	said.Tools[0].View = tool.Grouped
	ours := tooltest.Offer("fs", tooltest.Action("read"))
	ours.Tools[0].View, ours.Tools[0].Actions[0].Strict = tool.Grouped, true
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{
		"":        {Default: tool.Auto, Budget: 16 << 10},
		"context": {Default: tool.Search},
		"one":     {Views: map[string]tool.View{"said": tool.Search}},
		"all":     {View: tool.Flat, Default: tool.Auto, Budget: 1},
	}}, tooltest.NewFake("fs", ours), tooltest.NewFake("said", said), tooltest.NewFake("free", tooltest.Offer("free", tooltest.Action("b"))))
	for profile, shown := range map[string]string{
		"":            "fs grouped notes, said grouped entry, free flat auto",
		"context":     "fs grouped notes, said grouped entry, free search context",
		"one":         "fs grouped notes, said search profile, free flat default",
		"all":         "fs flat profile, said flat profile, free flat profile",
		"one@grouped": "fs grouped profile, said grouped profile, free grouped profile",
	} {
		var got []string
		for _, x := range c.Tools(profile) {
			got = append(got, x.Name+" "+string(x.View)+" "+x.Why)
		}
		checkEqual(t, profile, strings.Join(got, ", "), shown)
	}
}

// lateSource does not know what it offers until told is closed.
type lateSource struct {
	*tooltest.Fake
	told chan struct{}
}

func (l *lateSource) Ready(tool.ListKind) <-chan struct{} { return l.told }
