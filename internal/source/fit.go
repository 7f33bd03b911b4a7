package source

import (
	"cmp"
	"slices"

	"collie/internal/tool"
)

// This file chooses views so that the list of all tools fits a budget of bytes.

// listFrame is the size of an empty list, less one byte: each definition is counted with a comma, and the last one
// has none.
const listFrame = len(`{"tools":[]}`) - len(",")

// serverSize is a server of the list with its size in each view, for fit.
type serverSize struct {
	tool          *tool.Tool
	view          tool.View
	flat, grouped int // bytes in these views, commas included
}

// bytes returns the size of the server's own entries. In the search view it has none: sum adds the shared search
// tools once.
func (server *serverSize) bytes() int {
	switch server.view {
	case tool.Flat:
		return server.flat
	case tool.Grouped:
		return server.grouped
	}
	return 0
}

// listSize returns the size in bytes of the list of tools with the given servers.
func listSize(servers []*serverSize) int {
	total, searched := listFrame, 0
	for _, server := range servers {
		total += server.bytes()
		if server.view == tool.Search {
			searched++
		}
	}
	if searched > 0 {
		total += searchBytes + bytesEach*searched + len(",,,")
	}
	return total
}

// choose returns a view for each server whose view no setting fixes. A server keeps the view in kept. New servers are
// flat if the list then fits the budget; otherwise the largest new ones become grouped, then search, until it fits.
// fresh reports whether any view is new.
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
			if !p.isAutoChosen(t) {
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
	var all, undecided []*serverSize
	for i, server := range serverSizes(servers, p) {
		all = append(all, server)
		if v, ok := views[servers[i].Name]; ok {
			server.view = v
		} else if server.view = p.viewOf(server.tool); p.isAutoChosen(server.tool) {
			server.view = tool.Flat
			undecided = append(undecided, server)
		}
	}
	fitBudget(all, undecided, p.Budget)
	for _, server := range undecided {
		views[server.tool.Name] = server.view
	}
	return views, true
}

// serverSizes returns the sizes of servers in the flat and in the grouped view.
func serverSizes(servers []*tool.Tool, p *Profile) []*serverSize {
	var want []nameRequest
	for _, t := range servers {
		for _, a := range shownActions(t, p) {
			want = append(want, nameRequest{owner: t.Name, prefix: t.Prefix, original: a.Name, alias: a.Alias})
		}
	}
	names := exposedNames(want)
	out := make([]*serverSize, len(servers))
	for i, t := range servers {
		actions := shownActions(t, p)
		server := &serverSize{tool: t, grouped: len(groupDefinition(t.Name, t, actions)) + len(",")}
		for _, a := range actions {
			server.flat += len(withName(a.Definition, a.Name, names[0])) + len(",")
			names = names[1:]
		}
		out[i] = server
	}
	return out
}

// fitBudget changes the views of the undecided servers, the largest first, until the list of all fits the budget. It
// changes no more than necessary.
func fitBudget(all, undecided []*serverSize, budget int) {
	shrink := func(to tool.View, size func(*serverSize) int, gains func(*serverSize) bool) {
		largest := slices.Clone(undecided)
		slices.SortStableFunc(largest, func(a, b *serverSize) int {
			return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.tool.Name, b.tool.Name))
		})
		for _, server := range largest {
			if listSize(all) <= budget {
				return
			}
			if gains(server) {
				server.view = to
			}
		}
	}
	shrink(tool.Grouped, func(server *serverSize) int { return server.flat }, func(server *serverSize) bool { return server.grouped < server.flat })
	before, listed := make([]tool.View, len(undecided)), listSize(all)
	for i, server := range undecided {
		before[i] = server.view
	}
	shrink(tool.Search, (*serverSize).bytes, func(*serverSize) bool { return true })
	if found := listSize(all); found > budget && found >= listed { // the search tools take more than the tools they replace
		for i, server := range undecided {
			server.view = before[i]
		}
	}
}
