package content

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

var (
	blockRef   = regexp.MustCompile(`\(\([ \t]*(\d{14}-[0-9a-z]{7})(?:[ \t]+(?:'([^'\n]*)'|"([^"\n]*)"))?[ \t]*\)\)`)
	footnote   = regexp.MustCompile(`\[\^[^\]\s]+\]`)
	siyuanLink = regexp.MustCompile(`\]\(siyuan://blocks/\d{14}-[0-9a-z]{7}`)
)

// Normalize writes the block references of a text that is going to be written as SiYuan does:
// ((id 'anchor')), where the anchor follows the block's text, or ((id "anchor")), where it
// stays. A bare ((id)) gets the beginning of the block's text for an anchor; where there is no
// such block, or none that the caller may know of, the anchor becomes the id and a warning says
// so. Code is left alone. Footnotes and siyuan:// links are allowed, with a warning that they
// make no backlink (0.7).
func Normalize(ctx context.Context, r *action.Request, markdown string) (string, []string, error) {
	places := outsideCode(markdown, blockRef)
	var bare []kernel.ID
	for _, m := range places {
		if id := kernel.ID(markdown[m[2]:m[3]]); !anchored(m) && !slices.Contains(bare, id) {
			bare = append(bare, id)
		}
	}
	anchors, err := anchorsOf(ctx, r, bare)
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	var warnings []string
	at := 0
	for _, m := range places {
		b.WriteString(markdown[at:m[0]])
		at = m[1]
		id := markdown[m[2]:m[3]]
		switch {
		case m[4] >= 0 && m[4] < m[5]:
			b.WriteString("((" + id + " '" + markdown[m[4]:m[5]] + "'))")
		case m[6] >= 0 && m[6] < m[7]:
			b.WriteString("((" + id + ` "` + markdown[m[6]:m[7]] + `"))`)
		default:
			anchor := anchors[kernel.ID(id)]
			if anchor == "" {
				anchor = id
				warnings = appendNew(warnings, fmt.Sprintf("reference ((%s)): no such block was found, so its anchor is the id", id))
			}
			b.WriteString("((" + id + " '" + anchor + "'))")
		}
	}
	b.WriteString(markdown[at:])
	if len(outsideCode(markdown, footnote)) > 0 {
		warnings = append(warnings, "footnotes make no backlink; ((id 'anchor')) does")
	}
	if len(outsideCode(markdown, siyuanLink)) > 0 {
		warnings = append(warnings, "links to siyuan://blocks/… make no backlink; ((id 'anchor')) does")
	}
	return b.String(), warnings, nil
}

// anchored reports whether a reference has an anchor that is not empty.
func anchored(m []int) bool { return m[4] >= 0 && m[4] < m[5] || m[6] >= 0 && m[6] < m[7] }

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// anchorsOf finds a text for blocks by their first line that can be read. Blocks that the caller
// may not read have none, as those that do not exist (R-6-2).
func anchorsOf(ctx context.Context, r *action.Request, ids []kernel.ID) (map[kernel.ID]string, error) {
	out := map[kernel.ID]string{}
	if len(ids) == 0 {
		return out, nil
	}
	found, err := r.Places(ctx, ids)
	if err != nil {
		return nil, err
	}
	var readable []kernel.ID
	for _, id := range ids {
		if t, ok := found[id]; ok && r.Readable(t.Notebook) {
			readable = append(readable, id)
		}
	}
	texts, err := r.Kernel.Kramdowns(ctx, readable, "md")
	if err != nil {
		return nil, err
	}
	for _, id := range readable {
		t := found[id]
		if out[id] = anchorOf(texts[id]); id != t.Root && out[id] != "" {
			continue
		}
		title := t.Title
		if title == "" { // what is known of the place came from an index
			p, err := r.Kernel.Place(ctx, id)
			if err != nil {
				continue
			}
			title = p.Title
		}
		out[id] = anchorText(title)
	}
	return out, nil
}

var leadingMarks = regexp.MustCompile(`^(?:#{1,6}|>|[-*+]|\d{1,9}[.)]|\[[^\]]\])[ \t]+`)

// anchorOf is the first line of a block that can be read, without marks.
func anchorOf(kramdown string) string {
	for text := range strings.SplitSeq(Visible(kramdown), "\n") {
		text = strings.TrimSpace(text)
		for {
			rest := strings.TrimSpace(leadingMarks.ReplaceAllString(text, ""))
			if rest == text {
				break
			}
			text = rest
		}
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "$$") || strings.HasPrefix(text, "{{") {
			continue
		}
		if text = anchorText(text); strings.Trim(text, "#>-|: ") != "" {
			return text
		}
	}
	return ""
}

// anchorText is a text that may stand between the quotes of a reference: one short line without
// marks of emphasis.
func anchorText(text string) string {
	text = blockRef.ReplaceAllString(Clean(text), "$2$3")
	text = strings.NewReplacer("'", "’", "**", "", "`", "", "==", "", "((", "", "))", "", "\n", " ").Replace(text)
	const most = 64
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return strings.TrimSpace(text)
}

// outsideCode finds a pattern in what is no code and no formula block. Each match is as
// FindStringSubmatchIndex returns it.
func outsideCode(markdown string, pattern *regexp.Regexp) [][]int {
	if !pattern.MatchString(markdown) {
		return nil
	}
	var out [][]int
	var in fence
	at := 0
	for text := range strings.SplitAfterSeq(markdown, "\n") {
		bare := strings.TrimSuffix(text, "\n")
		if in.open() {
			if in.closes(bare) {
				in = fence{}
			}
			at += len(text)
			continue
		}
		for _, m := range pattern.FindAllStringSubmatchIndex(codeless(bare), -1) {
			for i := range m {
				if m[i] >= 0 {
					m[i] += at
				}
			}
			out = append(out, m)
		}
		in = opens(bare)
		at += len(text)
	}
	return out
}

// codeless is a line whose inline code is blanked out, of the same length.
func codeless(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	out := []byte(text)
	var ticks unclosed
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\':
			i += 2
		case text[i] == '`':
			n := run(text[i:], '`')
			end := ticks.closing(text[i+n:], n)
			for j := i; end > 0 && j < i+n+end; j++ {
				out[j] = '`'
			}
			i += n + end
		default:
			i++
		}
	}
	return string(out)
}
