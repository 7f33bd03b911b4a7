package block

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file turns content that is written into a list into items of that list.

// Types of nodes that restrict what they may contain.
const (
	listNode  = "NodeList"
	itemNode  = "NodeListItem"
	superNode = "NodeSuperBlock"
)

// itemMarker is the marker of a list item: "-" or a number with its delimiter, and the box of a task.
type itemMarker struct {
	number int // number of a numbered item, else -1
	close  byte
	box    string // "[ ]" or "[X]" for a task, else ""
}

func (m itemMarker) String() string {
	if m.number < 0 {
		return "-"
	}
	return strconv.Itoa(m.number) + string(m.close)
}

// next returns the marker of the next item.
func (m itemMarker) next() itemMarker {
	if m.number >= 0 {
		m.number++
	}
	return m
}

var itemStart = lazyregexp.New(`(?m)^(?:[-*+]|(\d{1,9})([.)]))[ \t]+(?:\{:[^}\n]*\})?(\[[^\]\n]\])?`)

// firstAndLastMarker returns the markers of the first and last item in the kramdown of a list or of one item.
func firstAndLastMarker(kramdown string) (first, last itemMarker, ok bool) {
	all := itemStart.FindAllStringSubmatch(kramdown, -1)
	if len(all) == 0 {
		return itemMarker{number: -1}, itemMarker{number: -1}, false
	}
	return markerOf(all[0]), markerOf(all[len(all)-1]), true
}

func markerOf(m []string) itemMarker {
	out := itemMarker{number: -1, box: m[3]}
	if n, err := strconv.Atoi(m[1]); err == nil {
		out.number, out.close = n, m[2][0]
	}
	return out
}

// toItems converts Markdown to the items of a list, the first with marker m. Content that is not a list becomes one
// item. The markers of a list are changed to the kind of the target list. ok is false for a list with other blocks
// next to it.
func toItems(text string, m itemMarker) (items string, ok bool) {
	text = strings.Trim(text, "\r\n")
	if countItems(text) == 0 {
		return toItem(text, m), true
	}
	var out []string
	width := 0
	ok = visitListLines(text, func(line string, at itemLine) bool {
		switch {
		case at.startsItem:
			head := m.String() + " "
			width = len(head)
			if m.box != "" && !taskBox.MatchString(at.text) {
				head += m.box + " "
			}
			out = append(out, at.indent+head+at.text)
			m = m.next()
		case at.outside:
			return false
		default:
			out = append(out, reindent(line, at.width, width))
		}
		return true
	})
	return strings.Join(out, "\n"), ok
}

var taskBox = lazyregexp.New(`^(?:\{:[^}\n]*\})?\[[^\]\n]\](?:[ \t]|$)`)

// toItem converts text to one item.
func toItem(text string, m itemMarker) string {
	head := m.String() + " "
	if head == "- " && strings.HasPrefix(text, "-") {
		head = "* " // "- ---" would be a thematic break
	}
	pad := strings.Repeat(" ", len(head))
	if m.box != "" {
		head += m.box + " "
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i > 0 && strings.TrimSpace(line) != "" {
			lines[i] = pad + line
		}
	}
	return head + strings.Join(lines, "\n")
}

// reindent changes the indentation of a line in an item.
func reindent(line string, from, to int) string {
	rest := strings.TrimLeft(line, " \t")
	switch {
	case rest == "":
		return line
	case to >= from:
		return strings.Repeat(" ", to-from) + line
	case len(line)-len(rest) < from: // it belongs to the item although it is indented less
		return line
	}
	return line[from-to:]
}

// itemLine describes a line of a list.
type itemLine struct {
	startsItem   bool // first line of a top-level item
	indent, text string
	width        int  // columns from the item's marker to its content
	outside      bool // the line is not part of an item
}

var (
	listMarker  = lazyregexp.New(`^([ \t]*)((?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))`)
	beginsBlock = lazyregexp.New("^(?:#{1,6}[ \t]|>|```|~~~|\\$\\$|\\{\\{|(?:-[ \t]*){3,}$|(?:\\*[ \t]*){3,}$|(?:_[ \t]*){3,}$)")
)

// visitListLines calls visit for each line of a text that begins with a list, until visit returns false. It returns the last
// result of visit.
func visitListLines(text string, visit func(line string, at itemLine) bool) bool {
	fence, blank := "", false
	margin, content := -1, 0 // columns
	for line := range strings.SplitSeq(text, "\n") {
		rest := strings.TrimLeft(line, " \t")
		indent := len(line) - len(rest)
		at := itemLine{width: content - max(margin, 0)}
		m := listMarker.FindStringSubmatch(line)
		switch {
		case fence != "":
		case m != nil && (margin < 0 || indent <= margin) && !beginsBlock.MatchString(rest):
			rest = rest[len(m[2]):]
			at = itemLine{startsItem: true, indent: m[1], text: rest, width: len(m[2])}
			margin, content = indent, indent+len(m[2])
		case rest != "" && !strings.HasPrefix(rest, "{:") && indent < content:
			at.outside = indent <= margin && (blank || beginsBlock.MatchString(rest))
		}
		fence = fenceAfter(fence, rest)
		blank = rest == ""
		if !visit(line, at) {
			return false
		}
	}
	return true
}

// fenceAfter returns the fence of the code block that is open after a line, "" for none.
func fenceAfter(open, line string) string {
	for _, fence := range []string{"```", "~~~"} {
		switch {
		case !strings.HasPrefix(line, fence):
		case open == fence:
			return ""
		case open == "":
			return fence
		}
	}
	return open
}

// countItems counts the top-level items of the list at the beginning of text; 0 if there is none.
func countItems(text string) (n int) {
	text = strings.TrimLeft(text, "\r\n")
	if first, _, _ := strings.Cut(text, "\n"); !listMarker.MatchString(first) || beginsBlock.MatchString(strings.TrimSpace(first)) {
		return 0
	}
	visitListLines(text, func(_ string, at itemLine) bool {
		if at.startsItem {
			n++
		}
		return true
	})
	return n
}

// insertionSpot describes where content is inserted: between the items of a list, or elsewhere.
type insertionSpot struct {
	inList bool
	marker itemMarker // marker of the first new item
}

// adaptData returns data in the form that it has to have at the place where it is inserted: Markdown that goes into a list becomes
// items of that list; a DOM is only checked. The kernel would accept anything in a list, and list items
// anywhere, and so create documents that no editor can show.
func (s insertionSpot) adaptData(r *action.Request, param, dataType, data string) (string, error) {
	switch {
	case dataType == dataDOM:
		return data, s.checkDOM(r, param, data)
	case !s.inList:
		return data, nil
	}
	out, ok := toItems(data, s.marker)
	if !ok {
		e := r.Invalid(param, "has list items and other blocks side by side, and goes into a list, which holds items only")
		e.Hint = `indent what belongs to an item, or put the other blocks behind the list: block(action="insert", previousID=…)`
		return "", e
	}
	return out, nil
}

// checkDOM refuses a DOM whose blocks may not stand there. A list takes items, and lists, which the kernel replaces by their
// items; items go nowhere else.
func (s insertionSpot) checkDOM(r *action.Request, param, dom string) error {
	for _, b := range kernel.ParseDOM(dom) {
		switch item := b.Type == itemNode; {
		case s.inList && !item && b.Type != listNode:
			return r.Invalid(param, fmt.Sprintf("holds a %s and goes into a list, which takes items (NodeListItem) only", b.Type))
		case !s.inList && item:
			return r.Invalid(param, "holds an item of a list, and goes where there is no list: put a NodeList around it")
		}
	}
	return nil
}

// side is where new content goes: before or behind a block, or as its first or last child.
type side int

const (
	before side = iota
	behind
	first
	last
)

// spotAt determines what may be inserted before, behind or in a block. It also returns the block.
func spotAt(ctx context.Context, r *action.Request, id kernel.ID, at side) (insertionSpot, kernel.Node, error) {
	nodes, err := r.Kernel.Nodes(ctx, []kernel.ID{id})
	if err != nil {
		return insertionSpot{}, kernel.Node{}, err
	}
	node := nodes[id]
	list := node.ParentType
	if at == first || at == last {
		list = node.Type
	}
	if list != listNode {
		return insertionSpot{}, node, nil
	}
	texts, err := r.Kernel.Kramdowns(ctx, []kernel.ID{id}, "md")
	if err != nil {
		return insertionSpot{}, node, err
	}
	from, to, ok := firstAndLastMarker(texts[id])
	s := insertionSpot{inList: true, marker: from}
	if ok && (at == behind || at == last) {
		s.marker = to.next()
	}
	if s.marker.box != "" {
		s.marker.box = "[ ]"
	}
	return s, node, nil
}

// spotAtAnchor is like [spotAt], for an anchor. It returns an anchor at which the kernel inserts all the content: the kernel
// would insert only a part of it at the start of a list or super block.
func spotAtAnchor(ctx context.Context, r *action.Request, a anchorArgs) (insertionSpot, anchorArgs, error) {
	switch {
	case a.NextID != "":
		s, _, err := spotAt(ctx, r, a.NextID, before)
		return s, a, err
	case a.PreviousID != "":
		s, _, err := spotAt(ctx, r, a.PreviousID, behind)
		return s, a, err
	}
	s, node, err := spotAt(ctx, r, a.ParentID, first)
	if err != nil || !s.inList && node.Type != superNode {
		return s, a, err
	}
	children, err := r.Kernel.ChildBlocks(ctx, a.ParentID)
	if err == nil && len(children) > 0 {
		a = anchorArgs{NextID: children[0].ID}
	}
	return s, a, err
}
