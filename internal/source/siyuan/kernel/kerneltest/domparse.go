package kerneltest

import (
	"encoding/xml"
	"slices"
	"strings"
)

// kindsByNode is nodeTypes turned round.
var kindsByNode = func() map[string]string {
	kinds := map[string]string{}
	for kind, node := range nodeTypes {
		kinds[node] = kind
	}
	return kinds
}()

// parseDOM reads blocks from the editor's DOM. Text outside of any block becomes a paragraph.
func parseDOM(text string) []*block {
	root := parseElements(text)
	blocks := blocksOf(root)
	if len(blocks) == 0 {
		return []*block{{kind: kindParagraph, text: strings.TrimSpace(root.text())}}
	}
	return blocks
}

// element is a node of a DOM: an element with a name, or text.
type element struct {
	name     string
	data     string
	attrs    map[string]string
	children []*element
}

func parseElements(text string) *element {
	root := &element{}
	stack := []*element{root}
	dec := xml.NewDecoder(strings.NewReader("<x>" + text + "</x>"))
	dec.Strict = false
	dec.AutoClose = xml.HTMLAutoClose
	dec.Entity = xml.HTMLEntity
	for {
		token, err := dec.Token()
		if err != nil {
			return root
		}
		top := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case xml.CharData:
			top.children = append(top.children, &element{data: string(token)})
		}
	}
}

func (e *element) text() string {
	if e.name == "br" {
		return "\n"
	}
	var out strings.Builder
	out.WriteString(strings.ReplaceAll(e.data, "\u200b", ""))
	for _, child := range e.children {
		out.WriteString(child.text())
	}
	return out.String()
}

// find is the first element below e that satisfies accept.
func (e *element) find(accept func(*element) bool) *element {
	for _, child := range e.children {
		if accept(child) {
			return child
		}
		if found := child.find(accept); found != nil {
			return found
		}
	}
	return nil
}

// blocksOf collects the outermost block elements of e.
func blocksOf(e *element) []*block {
	var found []*block
	for _, child := range e.children {
		if kind := kindsByNode[child.attrs["data-type"]]; kind != "" {
			found = append(found, newDOMBlock(kind, child))
			continue
		}
		found = append(found, blocksOf(child)...)
	}
	return found
}

// domOwn are attributes of an element that are not attributes of the block.
var domOwn = []string{"class", "contenteditable", "spellcheck", "tabindex", "draggable", "colgroup"}

func newDOMBlock(kind string, e *element) *block {
	b := &block{kind: kind, attrs: map[string]string{}}
	for name, value := range e.attrs {
		if !strings.HasPrefix(name, "data-") && !slices.Contains(domOwn, name) {
			b.attrs[name] = value
		}
	}
	if id := e.attrs["data-node-id"]; id != "" {
		b.attrs["id"] = id
	}
	content := func() string {
		if html := e.find(func(c *element) bool { return c.name == "protyle-html" }); html != nil {
			return html.attrs["data-content"]
		}
		return ""
	}
	switch kind {
	case kindParagraph:
		b.text = inlineMarkdown(editable(e))
	case kindHeading:
		level := strings.TrimPrefix(e.attrs["data-subtype"], "h")
		n := 1
		if len(level) == 1 && level[0] >= '1' && level[0] <= '6' {
			n = int(level[0] - '0')
		}
		b.text = strings.Repeat("#", n) + " " + inlineMarkdown(editable(e))
	case kindItem:
		b.marker, b.task = strings.ReplaceAll(e.attrs["data-marker"], "*", "-"), e.attrs["data-task"]
		if b.marker == "" {
			b.marker = "-"
		}
	case kindSuper:
		b.marker = e.attrs["data-sb-layout"]
	case kindCallout:
		b.marker = e.attrs["data-subtype"]
	case kindDatabase:
		b.text = `<div data-type="NodeAttributeView" data-av-id="` + e.attrs["data-av-id"] + `" data-av-type="` + e.attrs["data-av-type"] + `"></div>`
	case kindMath:
		b.text = "$$\n" + e.attrs["data-content"] + "\n$$"
	case kindEmbed:
		b.text = "{{" + e.attrs["data-content"] + "}}"
	case kindBreak:
		b.text = "---"
	case kindCode:
		language, code := "", e.text()
		if c := e.find(func(c *element) bool { return strings.Contains(c.attrs["class"], "protyle-action__language") }); c != nil {
			language = c.text()
		}
		if c := e.find(func(c *element) bool { return strings.Contains(c.attrs["class"], "hljs") }); c != nil {
			code = c.text()
		}
		b.text = "```" + language + "\n" + strings.TrimSuffix(code, "\n") + "\n```"
	default:
		b.text = content()
	}
	if b.container() {
		b.children = blocksOf(e)
	}
	return b
}

// editable is the part of a leaf that holds its text.
func editable(e *element) *element {
	if c := e.find(func(c *element) bool { return c.attrs["contenteditable"] == "true" }); c != nil {
		return c
	}
	if c := e.find(func(c *element) bool { return c.name == "div" && !strings.Contains(c.attrs["class"], "protyle-attr") }); c != nil {
		return c
	}
	return e
}

// inlineMarkdown writes the formatted text of a leaf as markdown.
func inlineMarkdown(e *element) string {
	var out strings.Builder
	for _, child := range e.children {
		text := child.text()
		kind := child.attrs["data-type"]
		if kind == "" {
			kind = child.name
		}
		switch kind {
		case "a":
			href := child.attrs["data-href"]
			if href == "" {
				href = child.attrs["href"]
			}
			out.WriteString(writeSpan(kind, text, href, ""))
		case "block-ref":
			out.WriteString(writeSpan(kind, text, child.attrs["data-id"], child.attrs["data-subtype"]))
		case "inline-math":
			out.WriteString(writeSpan(kind, child.attrs["data-content"], "", ""))
		case "img":
			if img := child.find(func(c *element) bool { return c.name == "img" }); img != nil {
				child = img
			}
			out.WriteString("![" + child.attrs["alt"] + "](" + child.attrs["src"] + ")")
		case "strong", "b", "em", "i", "code", "mark", "s", "tag", "sub", "sup", "kbd", "u":
			out.WriteString(writeSpan(kind, text, "", ""))
		case "":
			out.WriteString(text)
		default:
			out.WriteString(inlineMarkdown(child))
			if child.name == "br" {
				out.WriteString("\n")
			}
		}
	}
	return strings.TrimSpace(out.String())
}
