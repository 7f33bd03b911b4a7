package source

import (
	"encoding/json"
	"hash/maphash"
	"sync"

	"collie/internal/tool"
)

// servedLists remembers digests of the lists that clients were given, so that clients are told only of changes to a
// list that they have seen. Lists that nobody asked for are not built to be compared.
type servedLists struct {
	seed maphash.Seed

	mu    sync.Mutex
	lists map[servedList]*servedDigest
}

// servedList is a list by the profile that it shows.
type servedList struct {
	profile string
	kind    tool.ListKind
}

// servedDigest is what the clients of a profile may hold of a list: one that they were given since they were told of a
// change, or several.
type servedDigest struct {
	digest  uint64
	several bool
}

// listsOf are the lists that a change is about.
var listsOf = map[tool.ChangeKind][]tool.ListKind{
	tool.ToolsChanged:     {tool.ListTools},
	tool.ResourcesChanged: {tool.ListResources, tool.ListTemplates},
	tool.PromptsChanged:   {tool.ListPrompts},
}

// changeOf is the change that a list is told of by.
var changeOf = map[tool.ListKind]tool.ChangeKind{
	tool.ListTools: tool.ToolsChanged, tool.ListResources: tool.ResourcesChanged, tool.ListTemplates: tool.ResourcesChanged,
	tool.ListPrompts: tool.PromptsChanged,
}

// once is a list that is made at its first use, with its digest.
func (x *servedLists) once(list func() json.RawMessage) func() (json.RawMessage, uint64) {
	return sync.OnceValues(func() (json.RawMessage, uint64) {
		raw := list()
		return raw, maphash.Bytes(x.seed, raw)
	})
}

// record says that a client is given a list of v. Whoever lists anything will hear of changes of the short lists too,
// as the view has them.
func (x *servedLists) record(v *view, kind tool.ListKind) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lists == nil {
		x.lists = map[servedList]*servedDigest{}
	}
	for k, list := range v.lists {
		if k == tool.ListTools && kind != k {
			continue // it is the one that costs something
		}
		_, digest := list()
		switch g := x.lists[servedList{v.name, k}]; {
		case g == nil:
			x.lists[servedList{v.name, k}] = &servedDigest{digest: digest}
		case k == kind && g.digest != digest:
			g.several = true
		}
	}
}

// differs reports whether clients of a profile may hold another list than they would be given now. It counts as told
// to them then. Of a list that none of them was given nothing is known, and they are told.
func (x *servedLists) differs(c *Catalog, ch tool.ChangeKind, profile string) bool {
	v := c.snapshot().view(profile)
	x.mu.Lock()
	defer x.mu.Unlock()
	differs, known := false, false
	for _, kind := range listsOf[ch] {
		g := x.lists[servedList{v.name, kind}]
		if served := x.lists[servedList{profile, kind}]; v.name == emptyProfile && served != nil {
			g = served // the settings had the profile until now
		}
		if g == nil {
			continue
		}
		_, digest := v.lists[kind]()
		differs, known = differs || g.several || g.digest != digest, true
		*g = servedDigest{digest: digest}
	}
	return differs || !known
}

// change is the notice of changed lists. Who is told is asked for each profile once, whoever asks.
func (c *Catalog) change(kind tool.ChangeKind) tool.Change {
	differ := map[string]bool{}
	return tool.Change{Kind: kind, Differs: func(profile string) bool {
		view, _ := c.profile(profile) // which may have several names
		if view == emptyProfile {
			view = profile
		}
		d, asked := differ[view]
		if !asked {
			d = c.servedLists.differs(c, kind, profile)
			differ[view] = d
		}
		return d
	}}
}
