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
	for _, step := range []func(context.Context) error{a.decodeReferences, a.refuseScripts, a.refuseDatabases, a.plainReferences, a.plainSpans, a.breakOpenings, a.plainAssets} {
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

	readable map[kernel.ID]bool // ids that were looked up, and whether they may be read
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

// patternMatch is a match of a pattern in a text. A group is a part of it that stands in parentheses in the pattern; the first one
// is 1, and the whole match is 0.
type patternMatch struct {
	in        string
	positions []int // where each group begins and ends; -1 for a group that took no part
}

// start and end return where the match begins and ends in the text.
func (m patternMatch) start() int { return m.positions[0] }
func (m patternMatch) end() int   { return m.positions[1] }

// has reports whether a group took part in the match.
func (m patternMatch) has(group int) bool { return m.positions[2*group] >= 0 }

// group returns the text of a group; empty if it took no part.
func (m patternMatch) group(n int) string {
	if !m.has(n) {
		return ""
	}
	return m.in[m.positions[2*n]:m.positions[2*n+1]]
}

// until returns the text of the match up to the beginning of a group.
func (m patternMatch) until(group int) string { return m.in[m.start():m.positions[2*group]] }

// insertAfter returns the text of the match with something more behind a group.
func (m patternMatch) insertAfter(group int, more string) string {
	behind := m.positions[2*group+1]
	return m.in[m.start():behind] + more + m.in[behind:m.end()]
}

// patternMatches returns all matches of a pattern in a text.
func patternMatches(pattern *lazyregexp.Regexp, in string) (all []patternMatch) {
	for _, positions := range pattern.FindAllStringSubmatchIndex(in, -1) {
		all = append(all, patternMatch{in, positions})
	}
	return all
}

// replaceMatches replaces in the text each match of pattern for which with returns a replacement.
func (a *admitRun) replaceMatches(pattern *lazyregexp.Regexp, with func(m patternMatch) (string, bool)) {
	var b strings.Builder
	at := 0
	for _, m := range patternMatches(pattern, a.Data) {
		if text, ok := with(m); ok {
			b.WriteString(a.Data[at:m.start()])
			b.WriteString(text)
			at = m.end()
		}
	}
	if at > 0 {
		a.Data = b.String() + a.Data[at:]
	}
}

// codeFinder returns a function that reports whether a position is inside code, by our own reading.
func (a *admitRun) codeFinder() func(at int) bool {
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
	inCode := a.codeFinder()
	var wrong error
	a.replaceMatches(databaseAttr, func(m patternMatch) (string, bool) {
		id := strings.TrimSpace(html.UnescapeString(strings.Trim(m.group(3), `"'`)))
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
		case inCode(m.start()):
			return m.insertAfter(1, zeroWidth), true
		}
		wrong = err
		return "", false
	})
	return wrong
}

// reference matches a block reference as the kernel reads it. Its groups are the id, the anchor in single quotes, which
// follows the block's text, and the one in double quotes, which stays.
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
	inCode := a.codeFinder()
	var wrong error
	a.replaceMatches(reference, func(m patternMatch) (string, bool) {
		id := m.group(1)
		if wrong != nil || a.readable[kernel.ID(id)] || inCode(m.start()) {
			return "", false
		}
		anchor, dynamic := m.group(2), m.has(2)
		if m.has(3) {
			anchor = m.group(3)
		}
		before, err := a.replacedDOM(ctx)
		wrong = err
		switch oldKind := referenceKind(before, id); {
		case err != nil, oldKind == dynamicAnchor, oldKind == staticAnchor && !dynamic && anchor != "":
			return "", false
		case oldKind == staticAnchor && anchor != "":
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
		if _, known := a.readable[id]; !known && id.Valid() {
			ids = appendNew(ids, id)
		}
	}
	found, err := readablePlaces(ctx, a.r, ids)
	if a.readable == nil {
		a.readable = map[kernel.ID]bool{}
	}
	for _, id := range ids {
		_, a.readable[id] = found[id]
	}
	return err
}

// encodedChar matches a character of a reference that is written as a character reference.
var encodedChar = lazyregexp.New(`&(?:#0*(?:4[05]|4[89]|5[0-7]|9[7-9]|1[01][0-9]|12[0-2])|#[xX]0*(?:2[89dD]|3[0-9]|[67][0-9a-fA-F])|lpar);`)

// decodeReferences decodes the character references of a text ([encodedChar]) where that makes a block reference: once
// stored, the text would be read as one at anybody's next edit.
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
	for _, m := range patternMatches(reference, a.Data) {
		kept[m.start()] = m.group(3) != ""
	}
	a.replaceMatches(referenceOpening, func(m patternMatch) (string, bool) {
		id := m.group(2)
		if wrong != nil || a.readable[kernel.ID(id)] {
			return "", false
		}
		before, err := a.replacedDOM(ctx)
		if err != nil {
			wrong = err
			return "", false
		}
		if oldKind := referenceKind(before, id); oldKind == dynamicAnchor || oldKind == staticAnchor && kept[m.start()] {
			return "", false
		}
		return m.insertAfter(1, zeroWidth), true
	})
	return wrong
}
