package source

import (
	"encoding/json"
	"hash/maphash"
	"sync"

	"collie/internal/tool"
)

// This file remembers which lists clients have, so that they are told only of changes that concern them.

// servedLists remembers digests of the lists that clients were given, so that clients are told only of changes to a
// list that they have seen. Lists that no client has requested are not built for the comparison.
type servedLists struct {
	seed maphash.Seed

	mu    sync.Mutex
	lists map[servedList]*servedDigest
}

// servedList identifies a list.
type servedList struct {
	profile string
	kind    tool.ListKind
}

// servedDigest is the digest of the list that clients of a profile have. several means that they may have different
// ones, received since the last notification.
type servedDigest struct {
	digest  uint64
	several bool
}

// listsOf maps a change to the lists that it affects.
var listsOf = map[tool.ChangeKind][]tool.ListKind{
	tool.ToolsChanged:     {tool.ListTools},
	tool.ResourcesChanged: {tool.ListResources, tool.ListTemplates},
	tool.PromptsChanged:   {tool.ListPrompts},
}

// changeOf maps a list to the kind of its change notification.
var changeOf = map[tool.ListKind]tool.ChangeKind{
	tool.ListTools: tool.ToolsChanged, tool.ListResources: tool.ResourcesChanged, tool.ListTemplates: tool.ResourcesChanged,
	tool.ListPrompts: tool.PromptsChanged,
}

// once returns a function that builds a list and its digest at the first call.
func (x *servedLists) once(list func() json.RawMessage) func() (json.RawMessage, uint64) {
	return sync.OnceValues(func() (json.RawMessage, uint64) {
		raw := list()
		return raw, maphash.Bytes(x.seed, raw)
	})
}

// record records that a client gets a list of v. It also records the current short lists of the view, because a client
// that requests any list gets notifications for all of them.
func (x *servedLists) record(v *view, kind tool.ListKind) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lists == nil {
		x.lists = map[servedList]*servedDigest{}
	}
	for k, list := range v.lists {
		if k == tool.ListTools && kind != k {
			continue // building it is expensive
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

// differs reports whether clients of a profile may have a list that differs from the current one. It assumes that they
// are then notified. If no client has requested the list, it returns true.
func (x *servedLists) differs(c *Catalog, ch tool.ChangeKind, profile string) bool {
	v := c.snapshot().view(profile)
	x.mu.Lock()
	defer x.mu.Unlock()
	differs, known := false, false
	for _, kind := range listsOf[ch] {
		g := x.lists[servedList{v.name, kind}]
		if served := x.lists[servedList{profile, kind}]; v.name == emptyProfile && served != nil {
			g = served // the profile was in the settings until now
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

// change returns the notification of a change. It decides only once per profile whether to notify clients.
func (c *Catalog) change(kind tool.ChangeKind) tool.Change {
	differ := map[string]bool{}
	return tool.Change{Kind: kind, Differs: func(profile string) bool {
		view, _ := c.profile(profile) // a profile may have several names
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
