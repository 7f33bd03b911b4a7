package source

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"collie/internal/tool"
)

// Choice is what [tool.Auto] has chosen for the servers of one profile.
type Choice struct {
	Budget int                  `json:"budget"` // in bytes, that it was chosen for
	Views  map[string]tool.View `json:"views"`  // by server
}

// Chosen keeps what [tool.Auto] has chosen beyond the end of a process. Its methods are called one at a time.
type Chosen interface {
	// Load returns the choices by profile. It is called once, when the first is needed.
	Load() map[string]Choice
	// Save adds the choice of a profile to what is kept.
	Save(profile string, c Choice)
	// Clear drops all choices.
	Clear() error
}

// listFrame is what a list has besides its definitions and a comma for each; behind the last there is none.
const listFrame = len(`{"tools":[]}`) - len(",")

// choices are what auto has chosen, by profile.
type choices struct {
	store Chosen // nil keeps nothing
	run   sync.WaitGroup

	mu     sync.Mutex
	loaded bool
	closed bool
	kept   map[string]Choice

	saving sync.Mutex // held while store is called
}

// of is what was chosen for a profile with a budget; nil for nothing.
func (x *choices) of(profile string, budget int) map[string]tool.View {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.loaded {
		x.loaded, x.kept = true, map[string]Choice{}
		if x.store != nil {
			maps.Copy(x.kept, x.store.Load())
		}
	}
	if c := x.kept[profile]; c.Budget == budget { // another budget is a person's word to choose anew
		return c.Views
	}
	return nil
}

// hold keeps a choice, and has it saved in the background.
func (x *choices) hold(profile string, c Choice) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	if old := x.kept[profile]; old.Budget == c.Budget {
		all := maps.Clone(old.Views) // with servers that are away for a while
		if all == nil {
			all = map[string]tool.View{}
		}
		maps.Copy(all, c.Views)
		c.Views = all
	}
	x.kept[profile] = c
	if x.store != nil {
		x.run.Go(func() { x.save(profile) })
	}
}

func (x *choices) save(profile string) {
	x.saving.Lock()
	defer x.saving.Unlock()
	x.mu.Lock()
	c, ok := x.kept[profile] // which may have been dropped meanwhile
	x.mu.Unlock()
	if ok {
		x.store.Save(profile, c)
	}
}

// clear drops all choices.
func (x *choices) clear() error {
	x.saving.Lock()
	defer x.saving.Unlock()
	x.mu.Lock()
	x.loaded, x.kept = true, map[string]Choice{}
	x.mu.Unlock()
	if x.store == nil {
		return nil
	}
	return x.store.Clear()
}

func (x *choices) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.run.Wait()
}

// Rebalance has [tool.Auto] choose anew for every profile, and tells clients. The error is why what was kept
// could not be dropped.
func (c *Catalog) Rebalance() error {
	err := c.auto.clear()
	c.dirty.Store(true)
	c.changes.list(tool.ToolsChanged)
	return err
}

// free reports whether nobody has said in which view a profile shows a Tool, so that auto chooses one.
func (p *Profile) free(t *tool.Tool) bool {
	return p.Views[t.Name] == "" && p.View == "" && t.View == "" && p.Default == tool.Auto
}

// why says who chose the view that a profile shows a Tool in; see [tool.Tool.Why].
func (p *Profile) why(t *tool.Tool) string {
	switch {
	case p.Views[t.Name] != "" || p.View != "":
		return tool.WhyProfile
	case t.View != "" && allOurs(actionsOf(t)):
		return tool.WhyNotes
	case t.View != "":
		return tool.WhyEntry
	case p.Default == tool.Auto:
		return tool.WhyAuto
	case p.Default != "":
		return tool.WhyContext
	}
	return tool.WhyNobody
}

func actionsOf(t *tool.Tool) []*tool.Action {
	out := make([]*tool.Action, len(t.Actions))
	for i := range t.Actions {
		out[i] = &t.Actions[i]
	}
	return out
}

// weighed is a server in a list that auto makes fit.
type weighed struct {
	tool          *tool.Tool
	view          tool.View
	flat, grouped int // bytes in these views, commas included
}

// bytes is what it takes itself; by search it is a part of what all take together.
func (w *weighed) bytes() int {
	switch w.view {
	case tool.Flat:
		return w.flat
	case tool.Grouped:
		return w.grouped
	}
	return 0
}

// sum is what a list of servers takes.
func sum(servers []*weighed) int {
	total, behind := listFrame, 0
	for _, w := range servers {
		total += w.bytes()
		if w.view == tool.Search {
			behind++
		}
	}
	if behind > 0 {
		total += searchBytes + bytesEach*behind + len(",,,")
	}
	return total
}

// choose sets the view of each server that nobody has set one for: as it was chosen before, and for new ones flat
// while that fits, grouped for the largest of them first, and search for the rest. It returns all that was chosen,
// and whether some of it is new.
func (s *snapshot) choose(p *Profile, kept map[string]tool.View) (views map[string]tool.View, fresh bool) {
	views = map[string]tool.View{}
	var servers []*tool.Tool
	for _, o := range s.offers {
		for i := range o.offer.Tools {
			t := &o.offer.Tools[i]
			if len(shownActions(t, p)) == 0 || allOurs(actionsOf(t)) {
				continue
			}
			servers = append(servers, t)
			if !p.free(t) {
				continue
			}
			if v, ok := kept[t.Name]; ok {
				views[t.Name] = v
			} else {
				fresh = true
			}
		}
	}
	if !fresh {
		return views, false
	}
	var all, open []*weighed
	for i, w := range weigh(servers, p) {
		all = append(all, w)
		if v, ok := views[servers[i].Name]; ok {
			w.view = v
		} else if w.view = p.viewOf(w.tool); p.free(w.tool) {
			w.view = tool.Flat
			open = append(open, w)
		}
	}
	fit(all, open, p.Budget)
	for _, w := range open {
		views[w.tool.Name] = w.view
	}
	return views, true
}

// weigh measures servers in the flat and in the grouped view.
func weigh(servers []*tool.Tool, p *Profile) []*weighed {
	var want []named
	for _, t := range servers {
		for _, a := range shownActions(t, p) {
			want = append(want, named{owner: t.Name, prefix: t.Prefix, original: a.Name})
		}
	}
	names := expose(want)
	out := make([]*weighed, len(servers))
	for i, t := range servers {
		actions := shownActions(t, p)
		w := &weighed{tool: t, grouped: len(groupDefinition(t.Name, t, actions)) + len(",")}
		for _, a := range actions {
			w.flat += len(renamed(a.Definition, a.Name, names[0])) + len(",")
			names = names[1:]
		}
		out[i] = w
	}
	return out
}

// fit changes the views of the open ones among all servers until the list is within a budget, and no further.
func fit(all, open []*weighed, budget int) {
	shrink := func(to tool.View, size func(*weighed) int, gains func(*weighed) bool) {
		largest := slices.Clone(open)
		slices.SortStableFunc(largest, func(a, b *weighed) int {
			return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.tool.Name, b.tool.Name))
		})
		for _, w := range largest {
			if sum(all) <= budget {
				return
			}
			if gains(w) {
				w.view = to
			}
		}
	}
	shrink(tool.Grouped, func(w *weighed) int { return w.flat }, func(w *weighed) bool { return w.grouped < w.flat })
	before, listed := make([]tool.View, len(open)), sum(all)
	for i, w := range open {
		before[i] = w.view
	}
	shrink(tool.Search, (*weighed).bytes, func(*weighed) bool { return true })
	if found := sum(all); found > budget && found >= listed { // the search takes more than what lies behind it
		for i, w := range open {
			w.view = before[i]
		}
	}
}

// form is how a list shows a Tool.
type form struct {
	view  tool.View
	names []string // of its own in the list
}

// shown is told that a client is shown v: what auto has chosen for it is kept from now on, if all servers
// have been heard, and a Tool that was shown in another form before is named in the log.
func (c *Catalog) shown(s *snapshot, v *view) {
	if v.told.CompareAndSwap(false, true) {
		c.tellForms(v)
	}
	if v.unkept.Load() && len(s.untold(tool.ListTools)) == 0 && v.unkept.CompareAndSwap(true, false) {
		c.auto.hold(v.name, Choice{Budget: v.profile.Budget, Views: v.profile.chosen})
	}
}

// tellForms logs which Tools a profile shows in another form than it did.
func (c *Catalog) tellForms(v *view) {
	now := map[string]form{}
	for _, t := range v.tools {
		now[t.tool.Name] = form{view: v.profile.viewOf(t.tool)}
	}
	for _, name := range v.names {
		t := v.tools[name].tool.Name
		f := now[t]
		f.names = append(f.names, name)
		now[t] = f
	}
	c.formsMu.Lock()
	before := c.forms[v.name]
	if c.forms == nil {
		c.forms = map[string]map[string]form{}
	}
	c.forms[v.name] = now
	c.formsMu.Unlock()
	for _, t := range slices.Sorted(maps.Keys(now)) {
		if old, ok := before[t]; ok && old.view != now[t].view {
			c.log.Warn("the tools of a server are listed in another form", "server", t, "profile", cmp.Or(v.name, "default"),
				"before", old.view, "now", now[t].view, "gone", old.names, "new", now[t].names)
		}
	}
}
