package template

import (
	"fmt"
	"text/template"
	"text/template/parse"
)

// callCost is what a call of a named template costs beside its parts; it bounds how deep templates call themselves.
const callCost = 10

// meter puts a step in front of everything that may be run many times: the bodies of loops and of named templates.
// text/template itself would go round for ever, also without writing anything.
func meter(t *template.Template) error {
	for _, named := range t.Templates() {
		if named.Tree == nil || named.Root == nil {
			continue
		}
		if err := meterList(named.Root); err != nil {
			return err
		}
		if err := charge(named.Root, callCost); err != nil {
			return err
		}
	}
	return nil
}

// meterList charges the loops inside a list.
func meterList(list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		lists, loop := branches(node)
		for _, inner := range lists {
			if err := meterList(inner); err != nil {
				return err
			}
		}
		if loop {
			if err := charge(lists[0], 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// branches are the lists a node holds; loop says that the first is run again and again.
func branches(node parse.Node) (lists []*parse.ListNode, loop bool) {
	switch n := node.(type) {
	case *parse.RangeNode:
		return []*parse.ListNode{n.List, n.ElseList}, true
	case *parse.IfNode:
		return []*parse.ListNode{n.List, n.ElseList}, false
	case *parse.WithNode:
		return []*parse.ListNode{n.List, n.ElseList}, false
	}
	return nil, false
}

// charge puts a step before a list that costs as much as the list has parts.
func charge(list *parse.ListNode, extra int) error {
	set, err := parse.Parse("", fmt.Sprintf("{{step %d}}", size(list)+extra+1), "", "", map[string]any{"step": true})
	if err != nil {
		return err
	}
	list.Nodes = append([]parse.Node{set[""].Root.Nodes[0]}, list.Nodes...)
	return nil
}

// size counts the parts of a list that one pass may evaluate, by the length of what is written there. The bodies of
// loops count for themselves.
func size(list *parse.ListNode) int {
	if list == nil {
		return 0
	}
	n := 0
	for _, node := range list.Nodes {
		n++
		switch v := node.(type) {
		case *parse.RangeNode:
			n += len(v.Pipe.String()) / 4
		case *parse.IfNode:
			n += len(v.Pipe.String()) / 4
		case *parse.WithNode:
			n += len(v.Pipe.String()) / 4
		case *parse.TextNode:
		default:
			n += len(node.String()) / 4
		}
		if lists, loop := branches(node); !loop {
			for _, inner := range lists {
				n += size(inner)
			}
		}
	}
	return n
}
