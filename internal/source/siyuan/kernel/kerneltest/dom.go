package kerneltest

import (
	"html"
	"slices"
	"strconv"
	"strings"
)

// hiddenInDOM are the attributes a DOM element carries under another name or not at all.
var hiddenInDOM = []string{"id", "updated"}

// domOf renders b as the editor's DOM; index is its place among its siblings from 1, 0 for none.
func domOf(b *block, index int) string {
	var out strings.Builder
	out.WriteString("<div")
	write := func(name, value string) { out.WriteString(" " + name + `="` + html.EscapeString(value) + `"`) }
	if b.kind == kindItem {
		marker := b.marker
		if marker == "-" {
			marker = "*"
		}
		write("data-marker", marker)
	}
	switch b.kind {
	case kindHeading, kindList, kindItem, kindCallout:
		write("data-subtype", b.subtype())
	}
	if b.kind == kindItem && b.task != "" {
		write("data-task", b.task)
	}
	write("data-node-id", b.id)
	if index > 0 {
		write("data-node-index", strconv.Itoa(index))
	}
	write("data-type", nodeTypes[b.kind])
	class := map[string]string{kindParagraph: "p", kindList: "list", kindItem: "li", kindHeading: b.subtype(), kindQuote: "bq", kindTable: "table", kindSuper: "sb", kindCallout: "callout"}[b.kind]
	if class == "" {
		class = "render-node"
	}
	write("class", class)
	if b.kind == kindDatabase {
		write("data-av-id", databaseID(b.text))
		write("data-av-type", "table")
	}
	if b.kind == kindSuper {
		write("data-sb-layout", b.marker)
	}
	if b.kind == kindMath || b.kind == kindEmbed {
		write("data-content", domContent(b))
	}
	for _, name := range sortedKeys(b.attrs) {
		if !slices.Contains(hiddenInDOM, name) {
			write(name, b.attrs[name])
		}
	}
	write("updated", b.attrs["updated"])
	out.WriteString(">" + domInner(b))
	return out.String() + "<div class=\"protyle-attr\" contenteditable=\"false\">\u200b</div></div>"
}

func domContent(b *block) string {
	if b.kind == kindEmbed {
		return strings.TrimSuffix(strings.TrimPrefix(b.text, "{{"), "}}")
	}
	return contentOf(b)
}

func domInner(b *block) string {
	const open = `<div contenteditable="true" spellcheck="false">`
	switch b.kind {
	case kindParagraph:
		return open + inlineHTML(b.text) + "</div>"
	case kindHeading:
		return open + inlineHTML(strings.TrimSpace(strings.TrimLeft(b.text, "#"))) + "</div>"
	case kindCode:
		first, _, _ := strings.Cut(b.text, "\n")
		return `<div class="protyle-action"><span class="protyle-action__language">` + html.EscapeString(strings.TrimLeft(first, "`")) +
			`</span></div><div class="hljs">` + html.EscapeString(codeOf(b.text)) + "</div>"
	case kindTable, kindHTML, kindIFrame, kindVideo, kindAudio, kindWidget:
		return `<protyle-html data-content="` + html.EscapeString(b.text) + `"></protyle-html>`
	}
	var out strings.Builder
	if b.kind == kindItem {
		icon := "iconDot"
		class := "protyle-action"
		switch {
		case b.task == " ":
			icon, class = "iconUncheck", class+" protyle-action--task"
		case b.task != "":
			icon, class = "iconCheck", class+" protyle-action--task"
		}
		out.WriteString(`<div class="` + class + `" draggable="true"><svg><use xlink:href="#` + icon + `"></use></svg></div>`)
	}
	for _, child := range b.children {
		out.WriteString(domOf(child, 0))
	}
	return out.String()
}

// domsOf renders blocks one after the other, numbered from 1.
func domsOf(list []*block) string {
	var out strings.Builder
	for i, b := range list {
		out.WriteString(domOf(b, i+1))
	}
	return out.String()
}

// databaseID is the id of the database a block shows.
func databaseID(text string) string {
	_, rest, found := strings.Cut(text, `data-av-id="`)
	if !found {
		return ""
	}
	id, _, _ := strings.Cut(rest, `"`)
	return id
}
