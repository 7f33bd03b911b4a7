package source

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"collie/internal/tool"
)

// This file chooses for each server whether its tools are listed one by one, grouped, or behind a search (view "auto").

// Choice holds the views that [tool.Auto] chose for the servers of one profile.
type Choice struct {
	Budget int                  `json:"budget"` // the budget in bytes that it was chosen for
	Views  map[string]tool.View `json:"views"`  // by name of the server
}

// Chosen stores the choices of [tool.Auto] across restarts. Its methods are called one at a time.
type Chosen interface {
	// Load returns the stored choices by profile. It is called once, when the first choice is needed.
	Load() map[string]Choice
	// Save stores the choice of one profile and leaves the others.
	Save(profile string, c Choice)
	// Clear deletes all stored choices.
	Clear() error
}

// autoViews holds what auto has chosen, by profile.
type autoViews struct {
	store Chosen // nil: choices are not stored
	saves sync.WaitGroup

	mu        sync.Mutex
	loaded    bool
	closed    bool
	byProfile map[string]Choice

	saving sync.Mutex // held while store saves or clears
}

// views returns the views chosen for a profile at this budget, nil if there are none.
func (x *autoViews) views(profile string, budget int) map[string]tool.View {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.loaded {
		x.loaded, x.byProfile = true, map[string]Choice{}
		if x.store != nil {
			maps.Copy(x.byProfile, x.store.Load())
		}
	}
	if c := x.byProfile[profile]; c.Budget == budget { // after a change of the budget by the user, views are chosen anew
		return c.Views
	}
	return nil
}

// set remembers a choice and saves it in the background.
func (x *autoViews) set(profile string, c Choice) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	if old := x.byProfile[profile]; old.Budget == c.Budget {
		all := maps.Clone(old.Views) // keeps servers that are away for a while
		if all == nil {
			all = map[string]tool.View{}
		}
		maps.Copy(all, c.Views)
		c.Views = all
	}
	x.byProfile[profile] = c
	if x.store != nil {
		x.saves.Go(func() { x.save(profile) })
	}
}

func (x *autoViews) save(profile string) {
	x.saving.Lock()
	defer x.saving.Unlock()
	x.mu.Lock()
	c, ok := x.byProfile[profile] // read again: it may have been dropped meanwhile
	x.mu.Unlock()
	if ok {
		x.store.Save(profile, c)
	}
}

// clear drops all choices.
func (x *autoViews) clear() error {
	x.saving.Lock()
	defer x.saving.Unlock()
	x.mu.Lock()
	x.loaded, x.byProfile = true, map[string]Choice{}
	x.mu.Unlock()
	if x.store == nil {
		return nil
	}
	return x.store.Clear()
}

func (x *autoViews) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.saves.Wait()
}

// Rebalance discards the choices of [tool.Auto], so that it chooses again for every profile, and tells clients that
// the list of tools has changed. The error says why stored choices could not be deleted; those in memory are gone all
// the same.
func (c *Catalog) Rebalance() error {
	err := c.autoViews.clear()
	c.changed.Add(1)
	c.notices.list(tool.ToolsChanged)
	return err
}

// isAutoChosen reports whether no setting fixes the view of t in this profile, so that auto chooses it.
func (p *Profile) isAutoChosen(t *tool.Tool) bool {
	return p.Views[t.Name] == "" && p.View == "" && t.View == "" && p.Default == tool.Auto
}

// viewChooser returns who chose the view in which the profile shows t; see [tool.Tool.Why].
func (p *Profile) viewChooser(t *tool.Tool) string {
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

// listedForm is how a list shows a Tool, to notice that it is shown otherwise later.
type listedForm struct {
	view  tool.View
	names []string // the names of its entries in the list
}

// viewShown records that a client has been shown v. Its chosen views are kept from now on, once every server has told
// its tools; a Tool whose form has changed since it was last shown is logged.
func (c *Catalog) viewShown(s *snapshot, v *view) {
	if v.shown.CompareAndSwap(false, true) {
		c.logChangedForms(v)
	}
	if v.hasUnsavedChoices.Load() && len(s.pendingSources(tool.ListTools)) == 0 && v.hasUnsavedChoices.CompareAndSwap(true, false) {
		c.autoViews.set(v.name, Choice{Budget: v.profile.Budget, Views: v.profile.chosen})
	}
}

// logChangedForms logs the Tools that a profile shows in another form than last time, and remembers the form of each.
func (c *Catalog) logChangedForms(v *view) {
	now := map[string]listedForm{}
	for _, t := range v.tools {
		now[t.tool.Name] = listedForm{view: v.profile.viewOf(t.tool)}
	}
	for _, name := range v.names {
		t := v.tools[name].tool.Name
		f := now[t]
		f.names = append(f.names, name)
		now[t] = f
	}
	c.listedFormsMu.Lock()
	before := c.listedForms[v.name]
	if c.listedForms == nil {
		c.listedForms = map[string]map[string]listedForm{}
	}
	c.listedForms[v.name] = now
	c.listedFormsMu.Unlock()
	for _, t := range slices.Sorted(maps.Keys(now)) {
		if old, ok := before[t]; ok && old.view != now[t].view {
			c.log.Warn("the tools of a server are listed in another form", "server", t, "profile", cmp.Or(v.name, "default"),
				"before", old.view, "now", now[t].view, "gone", old.names, "new", now[t].names)
		}
	}
}
