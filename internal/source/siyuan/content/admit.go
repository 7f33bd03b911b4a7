package content

import (
	"context"
	"fmt"
	"html"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file checks texts before they are written: the kernel would copy hidden notes into some of them.

// Written is a text that is about to be written.
type Written struct {
	Data string
	DOM  bool // in the editor's form; otherwise Markdown
	// Over is the block or document whose content the text replaces; empty for new content. References, databases and
	// links that it already has may stay.
	Over kernel.ID
	// Was is the replaced content in the editor's form, if the caller knows it or it is already gone.
	Was string
}

// Admit removes from a text to be written whatever would make the kernel copy things into it that the caller may not
// see, and describes the removals in warnings. What is hidden and what does not exist are treated alike:
//
//   - References become plain text: their anchor, or the id if they have none. The kernel keeps
//     dynamic anchors up to date, and so would copy hidden text into them.
//   - A block that shows a database is refused as a read of that database would be, with
//     [access.NotFound]. A block without a data-av-id is a new database.
//   - Links to assets, images and players become plain text, or lose the address, if some
//     notebook is hidden: an asset is shown to whoever may read a note that uses it.
//   - An embed that is a script is refused unless every notebook may be written: it runs in SiYuan
//     with the rights of the person who opens the note.
//
// Text that looks like one of these inside code stays, with an invisible character inserted, since the kernel may
// disagree on what is code.
func Admit(ctx context.Context, r *action.Request, w Written) (string, []string, error) {
	a := admitRun{r: r, Written: w}
	for _, step := range []func(context.Context) error{a.decodeReferences, a.refuseScripts, a.refuseDatabases, a.plainReferences, a.spans, a.breakOpenings, a.plainAssets} {
		if err := step(ctx); err != nil {
			return "", nil, err
		}
	}
	return a.Data, a.warnings, nil
}

// admitRun is one run of [Admit].
type admitRun struct {
	r *action.Request
	Written
	warnings []string

	open map[kernel.ID]bool // ids that were looked up, and whether they may be read
}

// zeroWidth is a zero-width character: it keeps the kernel from reading something as more than text.
const zeroWidth = "\u2060"

// replacedDOM returns the content that the text replaces, in the editor's form: in Markdown a reference and a text that
// looks like one are the same. It is requested only if something would be removed.
func (a *admitRun) replacedDOM(ctx context.Context) (string, error) {
	if a.Over == "" || a.Was != "" {
		return a.Was, nil
	}
	var err error
	a.Was, err = a.r.Kernel.DOM(ctx, a.Over)
	return a.Was, err
}

func (a *admitRun) warn(format string, args ...any) {
	a.warnings = appendNew(a.warnings, fmt.Sprintf(format, args...))
}

// replace replaces each match of pattern for which with returns a replacement; m are the positions of the match and
// its groups.
func (a *admitRun) replace(pattern *lazyregexp.Regexp, with func(m []int) (string, bool)) {
	var b strings.Builder
	at := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(a.Data, -1) {
		if text, ok := with(m); ok {
			b.WriteString(a.Data[at:m[0]])
			b.WriteString(text)
			at = m[1]
		}
	}
	if at > 0 {
		a.Data = b.String() + a.Data[at:]
	}
}

// groupText returns the text of a group of a match, and whether the group took part.
func (a *admitRun) groupText(m []int, n int) (string, bool) {
	if m[2*n] < 0 {
		return "", false
	}
	return a.Data[m[2*n]:m[2*n+1]], true
}

// inCode returns a function that reports whether a position is inside code, by our own reading.
func (a *admitRun) inCode() func(at int) bool {
	if a.DOM {
		return func(int) bool { return false }
	}
	var outside [][2]int
	for from, text := range textParts(a.Data) {
		bare := blankCode(text)
		for i := 0; i < len(bare); {
			if bare[i] == '`' {
				i++
				continue
			}
			end := i
			for end < len(bare) && bare[end] != '`' {
				end++
			}
			outside = append(outside, [2]int{from + i, from + end})
			i = end
		}
	}
	return func(at int) bool {
		_, found := slices.BinarySearchFunc(outside, at, func(s [2]int, at int) int {
			switch {
			case s[1] <= at:
				return -1
			case s[0] > at:
				return 1
			}
			return 0
		})
		return !found
	}
}

var scriptEmbed = lazyregexp.New(`(?:\{\{|data-content\s*=\s*["']?)(?:\s|&nbsp;)*(?:/|&#0*47;|&#[xX]0*2[fF];|&sol;){2}\s*!\s*[jJ][sS]`)

// refuseScripts refuses embeds that are scripts.
func (a *admitRun) refuseScripts(ctx context.Context) error {
	if !scriptEmbed.MatchString(a.Data) || a.r.Levels.Everywhere(ctx, access.Delete) == nil {
		return nil
	}
	before, err := a.replacedDOM(ctx)
	if err != nil || scriptEmbed.MatchString(before) {
		return err
	}
	e := a.r.Invalid("data", "has an embed that is a script, which would run with all rights of whoever opens the note in SiYuan")
	e.Hint = "leave it out; a person can add it in SiYuan"
	return e
}

// databaseAttr matches the attribute that names the database which a block shows.
var databaseAttr = lazyregexp.New(`(?i)(data-av-)(id)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)`)

// refuseDatabases refuses blocks that show a hidden or missing database.
func (a *admitRun) refuseDatabases(ctx context.Context) error {
	if !databaseAttr.MatchString(a.Data) {
		return nil
	}
	inCode := a.inCode()
	var wrong error
	a.replace(databaseAttr, func(m []int) (string, bool) {
		value, _ := a.groupText(m, 3)
		id := strings.TrimSpace(html.UnescapeString(strings.Trim(value, `"'`)))
		if wrong != nil || id == "" {
			return "", false
		}
		before, err := a.replacedDOM(ctx)
		if err != nil {
			wrong = err
			return "", false
		}
		if strings.Contains(before, `data-av-id="`+id+`"`) {
			return "", false
		}
		_, err = a.r.Database(ctx, kernel.ID(id))
		switch {
		case err == nil:
			return "", false
		case inCode(m[0]):
			return a.Data[m[0]:m[3]] + zeroWidth + a.Data[m[3]:m[1]], true
		}
		wrong = err
		return "", false
	})
	return wrong
}

// reference matches a block reference as the kernel reads it, with its anchor.
var reference = lazyregexp.New(`\(\(\s*(\d{14}-[0-9a-z]{7})(?:\s+(?:'((?:[^'\n]|\n[^'\n])*)'|"((?:[^"\n]|\n[^"\n])*)"))?\s*\)\)`)

// referenceOpening matches the beginning of a reference. Breaking it is enough to break the reference.
var referenceOpening = lazyregexp.New(`(\(\()\s*(\d{14}-[0-9a-z]{7})`)

// plainReferences turns references in Markdown outside code into plain text.
func (a *admitRun) plainReferences(ctx context.Context) error {
	if a.DOM || !referenceOpening.MatchString(a.Data) {
		return nil
	}
	if err := a.lookUpIDs(ctx, referenceOpening, 2); err != nil {
		return err
	}
	inCode := a.inCode()
	var wrong error
	a.replace(reference, func(m []int) (string, bool) {
		id, _ := a.groupText(m, 1)
		if a.open[kernel.ID(id)] || inCode(m[0]) {
			return "", false
		}
		anchor, dynamic := a.groupText(m, 2)
		if static, ok := a.groupText(m, 3); ok {
			anchor = static
		}
		before, err := a.replacedDOM(ctx)
		wrong = err
		switch stood := referenceKind(before, id); {
		case err != nil, stood == dynamicAnchor, stood == staticAnchor && !dynamic && anchor != "":
			return "", false
		case stood == staticAnchor && anchor != "":
			return `((` + id + ` "` + strings.ReplaceAll(anchor, `"`, "”") + `"))`, true
		}
		a.warn("reference ((%s)): no such block was found, so it is plain text", id)
		if anchor == "" {
			return id, true
		}
		return anchor, true
	})
	return wrong
}

// How a block refers to another block.
const (
	noReference   = iota
	staticAnchor  // with an anchor that stays
	dynamicAnchor // with an anchor that follows the other block's text
)

// referenceKind returns how a text in the editor's form refers to a block.
func referenceKind(dom, id string) int {
	out := noReference
	for _, tag := range spanTag.FindAllString(dom, -1) {
		switch attrs := attributesOf(tag); {
		case attrs["data-id"] != id:
		case attrs["data-subtype"] == "d":
			return dynamicAnchor
		default:
			out = staticAnchor
		}
	}
	return out
}

// lookUpIDs looks up whether the ids in a group of a pattern's matches may be read.
func (a *admitRun) lookUpIDs(ctx context.Context, pattern *lazyregexp.Regexp, group int) error {
	var ids []kernel.ID
	for _, m := range pattern.FindAllStringSubmatch(a.Data, -1) {
		id := kernel.ID(strings.TrimSpace(html.UnescapeString(strings.Trim(m[group], `"'`))))
		if _, known := a.open[id]; !known && id.Valid() {
			ids = appendNew(ids, id)
		}
	}
	found, err := readablePlaces(ctx, a.r, ids)
	if a.open == nil {
		a.open = map[kernel.ID]bool{}
	}
	for _, id := range ids {
		_, a.open[id] = found[id]
	}
	return err
}

// encodedChar matches a character of a reference that is written as a character reference.
var encodedChar = lazyregexp.New(`&(?:#0*(?:4[05]|4[89]|5[0-7]|9[7-9]|1[01][0-9]|12[0-2])|#[xX]0*(?:2[89dD]|3[0-9]|[67][0-9a-fA-F])|lpar);`)

// decodeReferences decodes such characters where that makes a reference: once stored, the text would be read as one at
// anybody's next edit.
func (a *admitRun) decodeReferences(context.Context) error {
	if strings.Contains(a.Data, "&") {
		plain := encodedChar.ReplaceAllStringFunc(a.Data, html.UnescapeString)
		if len(referenceOpening.FindAllString(plain, -1)) > len(referenceOpening.FindAllString(a.Data, -1)) {
			a.Data = plain
		}
	}
	return nil
}

// breakOpenings breaks what still looks like the beginning of a reference: in code, in the text of a DOM, or joined from
// pieces by earlier removals.
func (a *admitRun) breakOpenings(ctx context.Context) error {
	if !referenceOpening.MatchString(a.Data) {
		return nil
	}
	if err := a.lookUpIDs(ctx, referenceOpening, 2); err != nil {
		return err
	}
	var wrong error
	kept := map[int]bool{} // positions of references whose anchor stays
	for _, m := range reference.FindAllStringSubmatchIndex(a.Data, -1) {
		kept[m[0]] = m[6] >= 0 && m[6] < m[7]
	}
	a.replace(referenceOpening, func(m []int) (string, bool) {
		id, _ := a.groupText(m, 2)
		if a.open[kernel.ID(id)] {
			return "", false
		}
		before, err := a.replacedDOM(ctx)
		if err != nil {
			wrong = err
			return "", false
		}
		if stood := referenceKind(before, id); stood == dynamicAnchor || stood == staticAnchor && kept[m[0]] {
			return "", false
		}
		return a.Data[m[0]:m[3]] + zeroWidth + a.Data[m[3]:m[1]], true
	})
	return wrong
}
