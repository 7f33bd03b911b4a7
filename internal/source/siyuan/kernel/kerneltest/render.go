package kerneltest

import "strings"

// contentOf is the plain text of b as blocks.content holds it.
func contentOf(b *block) string {
	switch b.kind {
	case kindDocument:
		return b.attrs["title"]
	case kindHeading:
		return plain(strings.TrimSpace(strings.TrimLeft(b.text, "#")))
	case kindParagraph:
		return plain(b.text)
	case kindTable:
		return tableContent(b.text)
	case kindCode:
		return codeOf(b.text)
	case kindMath:
		return strings.TrimSpace(strings.Trim(b.text, "$"))
	case kindHTML:
		return b.text
	case kindList, kindItem, kindQuote, kindSuper, kindCallout:
		var out strings.Builder
		if b.kind != kindList {
			out.WriteByte(' ')
		}
		if b.kind == kindCallout {
			out.WriteString(calloutTitle(b.marker))
		}
		for _, child := range b.children {
			out.WriteString(contentOf(child))
		}
		return out.String()
	}
	return ""
}

// calloutTitle is what a callout shows above its text, as blocks.content holds it. Only NOTE was recorded.
func calloutTitle(kind string) string {
	if kind == "NOTE" {
		return "NOTE ✏️ Note "
	}
	return kind + " "
}

func tableContent(text string) string {
	var found []string
	for i, line := range strings.Split(text, "\n") {
		if i == 1 {
			continue
		}
		for _, cell := range cells(line) {
			if cell != "" {
				found = append(found, plain(cell))
			}
		}
	}
	return strings.Join(found, " ")
}

// codeOf is the text between the fences.
func codeOf(text string) string {
	_, inner, _ := strings.Cut(text, "\n")
	inner = strings.TrimSuffix(inner, "```")
	if strings.Count(inner, "\n") == 1 {
		return strings.TrimSuffix(inner, "\n")
	}
	return inner
}

// markdownOf is b without attribute lists, as blocks.markdown holds it.
func markdownOf(b *block) string {
	if b.kind == kindDocument {
		return ""
	}
	return renderer{}.block(b)
}

// kramdownOf is b with attribute lists. A document is its blocks and then its own list.
func kramdownOf(b *block) string { return renderer{ials: true}.block(b) }

// exportOf is the markdown of a document's blocks without attribute lists.
func exportOf(b *block) string { return renderer{}.blocks(b.children, "\n\n") }

// renderer writes blocks as markdown, with attribute lists or without.
type renderer struct {
	ials bool
	// marks writes formatted text as the editor's <span> marks.
	marks bool
}

func (r renderer) blocks(list []*block, between string) string {
	parts := make([]string, len(list))
	for i, b := range list {
		parts[i] = r.block(b)
	}
	return strings.Join(parts, between)
}

func (r renderer) block(b *block) string {
	switch b.kind {
	case kindDocument:
		body := r.blocks(b.children, "\n\n")
		if r.ials {
			body += "\n\n" + ial(b.attrs)
		}
		return body
	case kindList:
		return r.close(b, r.blocks(b.children, "\n"))
	case kindItem:
		return r.item(b)
	case kindQuote, kindCallout:
		return r.quote(b)
	case kindSuper:
		return r.close(b, "{{{"+b.marker+"\n"+r.blocks(b.children, "\n\n")+"\n\n}}}")
	case kindIFrame, kindVideo, kindAudio, kindWidget:
		if r.ials {
			return b.text + "\n\n" + ial(b.attrs)
		}
	}
	if r.marks && (b.kind == kindParagraph || b.kind == kindHeading) {
		return r.close(b, inlineHTML(b.text))
	}
	return r.close(b, b.text)
}

// close ends a block with its attribute list.
func (r renderer) close(b *block, text string) string {
	switch {
	case !r.ials:
		return text
	case text == "":
		return ial(b.attrs)
	}
	return text + "\n" + ial(b.attrs)
}

func (r renderer) item(b *block) string {
	head := b.marker + " "
	pad := strings.Repeat(" ", len(head))
	if r.ials {
		head += ial(b.attrs)
	}
	if b.task != "" {
		head += "[" + b.task + "] "
	}
	lines := strings.Split(r.blocks(b.children, "\n\n"), "\n")
	for i, line := range lines {
		switch {
		case i == 0:
			lines[i] = head + line
		case line != "":
			lines[i] = pad + line
		}
	}
	return strings.Join(lines, "\n")
}

func (r renderer) quote(b *block) string {
	between := "\n\n"
	text := r.blocks(b.children, between)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	text = strings.Join(lines, "\n")
	if b.kind == kindCallout {
		text = "> [!" + b.marker + "]\n" + text
	}
	if r.ials {
		text += "\n>"
	}
	return r.close(b, text)
}
