package access

import (
	"maps"
	"slices"
)

// This file reads the two older formats of a tool config.

// parseList reads ["list", "create"]: all other actions of the tool are off. An item may be a current name, a former name,
// or a name of the flat format that belongs to this tool.
func (p *parser) parseList(name string, items []any) {
	p.turnOffAll(name)
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			p.addFinding("%s: expected the names of actions", name)
			continue
		}
		action := s
		if _, known := p.known[name][s]; !known {
			if now, old := formerNames[name][s]; old {
				action = now
			} else if t := flatNames[s]; t.tool == name {
				action = t.action
			}
		}
		if _, known := p.known[name][action]; !known {
			p.addFinding("%s: unknown action %q%s", name, s, didYouMean(s, slices.Sorted(maps.Keys(p.known[name]))))
			continue
		}
		p.config.On[name][action] = true
	}
	p.config.ToolOn[name] = true // closeEmpty turns it off again if nothing is on
}

// turnOffAll turns all actions of a tool off.
func (p *parser) turnOffAll(name string) {
	for action := range p.config.On[name] {
		p.config.On[name][action] = false
	}
}

// parseFlat reads {"list_notebooks": true}. If a tool has at least one such name, all its actions start as off. If
// several names stand for one action, a single true turns it on. In a nested file such names do not count.
func (p *parser) parseFlat(nested bool) {
	cleared := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.raw)) {
		t, legacy := flatNames[name]
		_, isTool := p.known[name]
		if !legacy || isTool {
			continue
		}
		on, isBool := p.raw[name].(bool)
		switch {
		case nested:
			p.addFinding("%s: an old name counts only in a file of the older format", name)
			continue
		case t.tool == "":
			p.addFinding("%s: there is no such action any more", name)
			continue
		case !isBool:
			p.addFinding("%s: expected true or false", name)
			continue
		}
		actions, known := p.known[t.tool]
		if !known {
			continue
		}
		if !cleared[t.tool] {
			cleared[t.tool] = true
			p.turnOffAll(t.tool)
			p.config.ToolOn[t.tool] = true // closeEmpty turns it off again if nothing is on
		}
		if _, known := actions[t.action]; known && on {
			p.config.On[t.tool][t.action] = true
		}
	}
}
