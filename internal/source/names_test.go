package source_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// exposedName matches the names that clients may see.
var exposedName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// sourceAndName identifies a thing by its source and by the source's own name for it.
type sourceAndName struct{ source, name string }

// drawOffers draws sources whose names are likely to clash, and their offers by source.
func drawOffers(t *rapid.T) (order []string, offers map[string]tool.Offer) {
	order = rapid.SliceOfNDistinct(rapid.StringMatching(`[ab][_-]{0,2}[ab]?`), 1, 4, rapid.ID).Draw(t, "sources")
	offers = map[string]tool.Offer{}
	action := rapid.OneOf(
		rapid.StringMatching(`[ab][_.: é]{0,2}[abx]?`),
		rapid.StringMatching(`(a|b|b_)__[abx]`),
		rapid.StringMatching(`[ab]{58,70}`),
		rapid.SampledFrom([]string{"笔记", "日记", "name with spaces", "x/y", "x.y", "<&>\"\\"}),
	)
	for _, name := range order {
		tl := tooltest.Tool(name)
		tl.Prefix = rapid.SampledFrom([]string{name + "__", "", "p.", "same_"}).Draw(t, "prefix")
		if rapid.IntRange(0, 5).Draw(t, "grouped") == 0 {
			tl.View = tool.Grouped
		}
		offer := tool.Offer{}
		for _, a := range rapid.SliceOfNDistinct(action, 0, 5, rapid.ID).Draw(t, "actions") {
			tl.Actions = append(tl.Actions, tooltest.Action(a))
			offer.Prompts = append(offer.Prompts, tooltest.Prompt(a))
		}
		offer.Tools = []tool.Tool{tl}
		offers[name] = offer
	}
	return order, offers
}

// exposedNames builds a catalog from the offers and returns what each name in one of its lists resolves to.
func exposedNames(t *rapid.T, order []string, offers map[string]tool.Offer, kind tool.ListKind) map[string]sourceAndName {
	var sources []tool.Source
	for _, name := range order {
		sources = append(sources, tooltest.NewFake(name, offers[name]))
	}
	c := source.New(sources, source.Options{})
	defer c.Close()
	raw, _ := c.List(t.Context(), kind, "")
	out := map[string]sourceAndName{}
	for _, e := range gjson.GetBytes(raw, string(kind)).Array() {
		name := e.Get("name").String()
		if _, twice := out[name]; twice || !exposedName.MatchString(name) {
			t.Fatalf("name %q is there twice or does not match %s", name, exposedName)
		}
		request := tool.Request{Kind: tool.KindPrompt, Name: name}
		if kind == tool.ListTools {
			request = toolCall(name, `{"action":"help"}`)
		}
		call, err := c.Resolve(t.Context(), request)
		if err != nil {
			t.Fatalf("name %q is listed and does not resolve: %v", name, err)
		}
		out[name] = sourceAndName{call.Tool, call.Target}
		if kind == tool.ListTools && strings.HasPrefix(call.Target, "collie://help/") {
			out[name] = sourceAndName{call.Tool, ""} // the whole group
		} else if call.Source.Name() != call.Tool {
			t.Fatalf("name %q leads to source %s, tool %s", name, call.Source.Name(), call.Tool)
		}
	}
	return out
}

// The names that clients see are clean, short and unique, and each resolves to what it stands for. They depend on the
// offers alone, not on the order of sources or actions.
func TestNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		order, offers := drawOffers(t)
		tools := exposedNames(t, order, offers, tool.ListTools)
		prompts := exposedNames(t, order, offers, tool.ListPrompts)

		all := map[sourceAndName]bool{}
		plain := map[string]int{} // how many things want each cleaned name without a prefix
		for name, offer := range offers {
			tl := offer.Tools[0]
			if tl.View == tool.Grouped {
				if len(tl.Actions) > 0 {
					all[sourceAndName{name, ""}] = true
					plain[name] += 2 // groups keep their names
				}
				continue
			}
			for _, a := range tl.Actions {
				all[sourceAndName{name, a.Name}] = true
				plain[strings.Map(cleanRune, tl.Prefix+a.Name)]++
			}
		}
		second := map[string]bool{} // names that actions get after giving up an empty prefix because of a clash
		for name, offer := range offers {
			tl := offer.Tools[0]
			for _, a := range tl.Actions {
				if tl.View != tool.Grouped && tl.Prefix == "" && plain[strings.Map(cleanRune, a.Name)] > 1 {
					second[strings.Map(cleanRune, name+"__"+a.Name)] = true
				}
			}
		}
		for name, o := range tools {
			delete(all, o)
			tl := offers[o.source].Tools[0]
			if o.name == "" && name != o.source {
				t.Errorf("group %s is called %q", o.source, name)
			}
			free := strings.Map(cleanRune, tl.Prefix+o.name)
			if o.name != "" && plain[free] == 1 && !second[free] && len(free) <= 64 && name != free {
				t.Errorf("%v is called %q, and nobody else wants %q", o, name, free)
			}
		}
		if len(all) > 0 {
			t.Errorf("not listed: %v", slices.Collect(maps.Keys(all)))
		}

		shuffled := rapid.Permutation(order).Draw(t, "other order")
		for name, offer := range offers {
			tl := offer.Tools[0]
			tl.Actions = rapid.Permutation(tl.Actions).Draw(t, "actions of "+name)
			offers[name] = tool.Offer{Tools: []tool.Tool{tl}, Prompts: rapid.Permutation(offer.Prompts).Draw(t, "prompts of "+name)}
		}
		if again := exposedNames(t, shuffled, offers, tool.ListTools); !maps.Equal(tools, again) {
			t.Errorf("another order gives other names:\n%v\n%v", tools, again)
		}
		if again := exposedNames(t, shuffled, offers, tool.ListPrompts); !maps.Equal(prompts, again) {
			t.Errorf("another order gives other prompts:\n%v\n%v", prompts, again)
		}
	})
}

// The rules of names one by one. The digests are fixed, since clients may have written such names down.
func TestNameRules(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 70)
	none := func(name string, actions ...string) *tooltest.Fake {
		offer := tooltest.Offer(name)
		for _, a := range actions {
			offer.Tools[0].Actions = append(offer.Tools[0].Actions, tooltest.Action(a))
		}
		offer.Tools[0].Prefix = ""
		return tooltest.NewFake(name, offer)
	}
	with := func(name string, actions ...string) *tooltest.Fake {
		f := none(name, actions...)
		offer := *f.Offer()
		offer.Tools[0].Prefix = name + "__"
		return f
	}
	tests := []struct {
		name    string
		sources []tool.Source
		want    []string
	}{
		{"a prefix", []tool.Source{with("s", "x")}, []string{"s__x"}},
		{"cleaned", []tool.Source{with("s", "a.b/c d")}, []string{"s__a_b_c_d"}},
		{"too long", []tool.Source{with("s", long)}, []string{"s__" + strings.Repeat("n", 52) + "_ff7bc814"}},
		{"collision after cleaning", []tool.Source{with("s", "a.b", "a:b")}, []string{"s__a_b_407e8e5c", "s__a_b_c68aff7a"}},
		{"no prefix, unique", []tool.Source{none("s", "x"), with("t", "x")}, []string{"x", "t__x"}},
		{"no prefix, not unique", []tool.Source{none("s", "x"), none("t", "x")}, []string{"s__x", "t__x"}},
		{"no prefix, as another's whole name", []tool.Source{none("s", "t__x"), with("t", "x")}, []string{"s__t__x", "t__x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkEqual(t, "names", listedNames(t, openCatalog(t, source.Options{}, tt.sources...), tool.ListTools, ""), tt.want)
		})
	}
}

// TestReservedNames: a call of one of our tools never reaches another source, even if our tool is off, hidden by a
// profile or not there at all.
func TestReservedNames(t *testing.T) {
	t.Parallel()
	foreign := tool.Offer{Tools: []tool.Tool{tooltest.Tool("bare"), tooltest.Tool("near")}}
	foreign.Tools[0].Prefix, foreign.Tools[1].Prefix = "", "fs__"
	for _, name := range []string{"fs", "fs__read", "fsx", "notebook"} {
		foreign.Tools[0].Actions = append(foreign.Tools[0].Actions, tooltest.Action(name))
	}
	foreign.Tools[1].Actions = []tool.Action{tooltest.Action("read")}
	grouped := tooltest.Tool("fs")
	grouped.View, grouped.Actions = tool.Grouped, []tool.Action{tooltest.Action("read")}
	off := grouped
	off.Off = "a person has switched it off"
	for name, tools := range map[string][]tool.Tool{"there": {grouped}, "off": {off}, "gone": nil} {
		own, other := tooltest.NewFake("own", tool.Offer{Tools: tools}), tooltest.NewFake("other", foreign)
		c := source.New([]tool.Source{other, own}, source.Options{
			Reserved: []string{"fs", "notebook"}, Profiles: map[string]source.Profile{"without": {Hide: []string{"fs"}}},
		})
		defer c.Close()
		for _, profile := range []string{"", "without"} {
			for _, called := range []string{"fs", "fs__read", "fs/read", "fs.read", "notebook"} {
				call := toolCall(called, `{"action":"read"}`)
				call.Profile = profile
				if call, err := c.Resolve(t.Context(), call); err == nil && call.Source == tool.Source(other) {
					t.Errorf("own tool %s, profile %q: %s reaches the other source", name, profile, called)
				}
			}
			for _, called := range []string{"bare__fs", "bare__fs__read", "near__read", "fsx"} {
				call := toolCall(called, `{}`)
				call.Profile = profile
				if call, err := c.Resolve(t.Context(), call); err != nil || call.Source != tool.Source(other) {
					t.Errorf("own tool %s, profile %q: %s: %v", name, profile, called, err)
				}
			}
		}
	}
}

// Clients see an action under the alias that a person gave it, flat and grouped. Its own name can still be called, and
// its source only ever receives its own name.
func TestAliasesOfActions(t *testing.T) {
	t.Parallel()
	for _, view := range []tool.View{tool.Flat, tool.Grouped} {
		offer := tooltest.Offer("tea", tooltest.Action("pour"), tooltest.Action("wash"))
		offer.Tools[0].Prefix, offer.Tools[0].View, offer.Tools[0].Actions[0].Alias = "tea__", view, "serve"
		c := openCatalog(t, source.Options{}, tooltest.NewFake("tea", offer))
		raw, _ := c.List(t.Context(), tool.ListTools, "")
		if text := string(raw); !strings.Contains(text, "serve") || strings.Contains(text, `"pour`) || strings.Contains(text, "tea__pour") {
			t.Errorf("%s: the list is %s", view, text)
		}
		for _, name := range []string{"serve", "pour"} {
			request := toolCall("tea", `{"action":"`+name+`"}`)
			if view == tool.Flat {
				request = toolCall("tea."+name, "{}")
			}
			if call, err := c.Resolve(t.Context(), request); err != nil || call.Target != "pour" {
				t.Errorf("%s: %s is %q, %v", view, name, call.Target, err)
			}
		}
		if view == tool.Flat {
			if call, err := c.Resolve(t.Context(), toolCall("tea__serve", "{}")); err != nil || call.Target != "pour" {
				t.Errorf("its exposed name is %q, %v", call.Target, err)
			}
		}
	}
}

// An alias that several actions share hides none of them: each gets the name of its Tool as a prefix.
func TestAliasesThatClash(t *testing.T) {
	t.Parallel()
	one, two := tooltest.Offer("one", tooltest.Action("x"), tooltest.Action("y")), tooltest.Offer("two", tooltest.Action("z"))
	one.Tools[0].Prefix, two.Tools[0].Prefix = "", ""
	one.Tools[0].Actions[0].Alias, two.Tools[0].Actions[0].Alias = "same", "same"
	c := openCatalog(t, source.Options{}, tooltest.NewFake("one", one), tooltest.NewFake("two", two))
	checkEqual(t, "names", strings.Join(listedNames(t, c, tool.ListTools, ""), " "), "one__same y two__same")
}
