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

// Written is a text that is about to be written.
type Written struct {
	Data string
	DOM  bool // the editor's form; else Markdown
	// Over is the block or document whose content it takes the place of; empty where it takes
	// nobody's. What that refers to, shows and links to may stay.
	Over kernel.ID
	// Was is that content in the editor's form, where it is known or gone by now.
	Was string
}

// Admit takes out of a text that is going to be written what the kernel would carry more into it than
// its caller may see, and says in warnings what that was. What may not be read and what does not exist
// are treated alike:
//
//   - References become plain text: their anchor, or the id where they have none. The kernel keeps
//     the anchors of dynamic ones up to date, and so would write what is hidden into them.
//   - A block that shows a database is refused as that database would be, [access.NotFound]. A block
//     without a data-av-id is a new database.
//   - Links to assets, images and players become plain text, or lose the address, where some
//     notebook may not be read: an asset is shown to whoever may read a note that uses it.
//   - An embed that is a script is refused unless every notebook may be written: it runs in SiYuan
//     with the rights of the person who opens the note.
//
// What looks like one of these in code stays, with a character that has no width in it, since the
// kernel's notion of what is code is its own.
func Admit(ctx context.Context, r *action.Request, w Written) (string, []string, error) {
	a := admission{r: r, Written: w}
	for _, step := range []func(context.Context) error{a.spelt, a.scripts, a.databases, a.references, a.spans, a.leftovers, a.assets} {
		if err := step(ctx); err != nil {
			return "", nil, err
		}
	}
	return a.Data, a.warnings, nil
}

// admission is one run of [Admit].
type admission struct {
	r *action.Request
	Written
	warnings []string

	open map[kernel.ID]bool // what has been looked up, and whether it may be read
}

// zero is a character that has no width: it keeps the kernel from reading something as more than text.
const zero = "\u2060"

// was is what the text takes the place of, in the editor's form: in Markdown a reference and a text
// that looks like one are the same. It is asked for only where something would be taken out.
func (a *admission) was(ctx context.Context) (string, error) {
	if a.Over == "" || a.Was != "" {
		return a.Was, nil
	}
	var err error
	a.Was, err = a.r.Kernel.DOM(ctx, a.Over)
	return a.Was, err
}

func (a *admission) warn(format string, args ...any) {
	a.warnings = appendNew(a.warnings, fmt.Sprintf(format, args...))
}

// replace puts with in the place of each stretch of the text that pattern finds and that with has
// something to say about; m are the positions of its groups.
func (a *admission) replace(pattern *lazyregexp.Regexp, with func(m []int) (string, bool)) {
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

// group is the text of a group of a match, and whether it took part.
func (a *admission) group(m []int, n int) (string, bool) {
	if m[2*n] < 0 {
		return "", false
	}
	return a.Data[m[2*n]:m[2*n+1]], true
}

// inCode tells whether a place in the text is in what is code for us.
func (a *admission) inCode() func(at int) bool {
	if a.DOM {
		return func(int) bool { return false }
	}
	var outside [][2]int
	for from, text := range prose(a.Data) {
		bare := codeless(text)
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

// scripts refuses embeds that are scripts.
func (a *admission) scripts(ctx context.Context) error {
	if !scriptEmbed.MatchString(a.Data) || a.r.Levels.Everywhere(ctx, access.Delete) == nil {
		return nil
	}
	was, err := a.was(ctx)
	if err != nil || scriptEmbed.MatchString(was) {
		return err
	}
	e := a.r.Invalid("data", "has an embed that is a script, which would run with all rights of whoever opens the note in SiYuan")
	e.Hint = "leave it out; a person can add it in SiYuan"
	return e
}

// databaseAttr is the attribute of a block that names the database it shows.
var databaseAttr = lazyregexp.New(`(?i)(data-av-)(id)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)`)

// databases refuses blocks that show what may not be read, or does not exist.
func (a *admission) databases(ctx context.Context) error {
	if !databaseAttr.MatchString(a.Data) {
		return nil
	}
	inCode := a.inCode()
	var wrong error
	a.replace(databaseAttr, func(m []int) (string, bool) {
		value, _ := a.group(m, 3)
		id := strings.TrimSpace(html.UnescapeString(strings.Trim(value, `"'`)))
		if wrong != nil || id == "" {
			return "", false
		}
		was, err := a.was(ctx)
		if err != nil {
			wrong = err
			return "", false
		}
		if strings.Contains(was, `data-av-id="`+id+`"`) {
			return "", false
		}
		_, err = a.r.Database(ctx, kernel.ID(id))
		switch {
		case err == nil:
			return "", false
		case inCode(m[0]):
			return a.Data[m[0]:m[3]] + zero + a.Data[m[3]:m[1]], true
		}
		wrong = err
		return "", false
	})
	return wrong
}

// reference is a block reference as the kernel reads it, anchor and all.
var reference = lazyregexp.New(`\(\(\s*(\d{14}-[0-9a-z]{7})(?:\s+(?:'((?:[^'\n]|\n[^'\n])*)'|"((?:[^"\n]|\n[^"\n])*)"))?\s*\)\)`)

// opening is what a reference begins with, and all that has to be broken for there to be none.
var opening = lazyregexp.New(`(\(\()\s*(\d{14}-[0-9a-z]{7})`)

// references makes plain text of references in Markdown outside code.
func (a *admission) references(ctx context.Context) error {
	if a.DOM || !opening.MatchString(a.Data) {
		return nil
	}
	if err := a.look(ctx, opening, 2); err != nil {
		return err
	}
	inCode := a.inCode()
	var wrong error
	a.replace(reference, func(m []int) (string, bool) {
		id, _ := a.group(m, 1)
		if a.open[kernel.ID(id)] || inCode(m[0]) {
			return "", false
		}
		anchor, dynamic := a.group(m, 2)
		if static, ok := a.group(m, 3); ok {
			anchor = static
		}
		was, err := a.was(ctx)
		wrong = err
		switch stood := standing(was, id); {
		case err != nil, stood == followed, stood == fixed && !dynamic && anchor != "":
			return "", false
		case stood == fixed && anchor != "":
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

// How a block refers to a block.
const (
	absent   = iota
	fixed    // its anchor stays
	followed // its anchor follows the block's text
)

// standing is how a text in the editor's form refers to a block.
func standing(dom, id string) int {
	out := absent
	for _, tag := range spanTag.FindAllString(dom, -1) {
		switch attrs := attributesOf(tag); {
		case attrs["data-id"] != id:
		case attrs["data-subtype"] == "d":
			return followed
		default:
			out = fixed
		}
	}
	return out
}

// look finds out of ids that a group of a pattern finds in the text whether they may be read.
func (a *admission) look(ctx context.Context, pattern *lazyregexp.Regexp, group int) error {
	var ids []kernel.ID
	for _, m := range pattern.FindAllStringSubmatch(a.Data, -1) {
		id := kernel.ID(strings.TrimSpace(html.UnescapeString(strings.Trim(m[group], `"'`))))
		if _, known := a.open[id]; !known && id.Valid() {
			ids = appendNew(ids, id)
		}
	}
	found, err := readable(ctx, a.r, ids)
	if a.open == nil {
		a.open = map[kernel.ID]bool{}
	}
	for _, id := range ids {
		_, a.open[id] = found[id]
	}
	return err
}

// letter is a character of a reference that is written as its number.
var letter = lazyregexp.New(`&(?:#0*(?:4[05]|4[89]|5[0-7]|9[7-9]|1[01][0-9]|12[0-2])|#[xX]0*(?:2[89dD]|3[0-9]|[67][0-9a-fA-F])|lpar);`)

// spelt writes characters as they are where they make a reference of what is none yet: once it is
// stored, it is a text that anybody's next edit makes one of.
func (a *admission) spelt(context.Context) error {
	if strings.Contains(a.Data, "&") {
		plain := letter.ReplaceAllStringFunc(a.Data, html.UnescapeString)
		if len(opening.FindAllString(plain, -1)) > len(opening.FindAllString(a.Data, -1)) {
			a.Data = plain
		}
	}
	return nil
}

// leftovers breaks what still begins as a reference: in code, in the text of a DOM, of pieces that
// came together when others were taken out.
func (a *admission) leftovers(ctx context.Context) error {
	if !opening.MatchString(a.Data) {
		return nil
	}
	if err := a.look(ctx, opening, 2); err != nil {
		return err
	}
	var wrong error
	whole := map[int]bool{} // where references begin whose anchor stays
	for _, m := range reference.FindAllStringSubmatchIndex(a.Data, -1) {
		whole[m[0]] = m[6] >= 0 && m[6] < m[7]
	}
	a.replace(opening, func(m []int) (string, bool) {
		id, _ := a.group(m, 2)
		if a.open[kernel.ID(id)] {
			return "", false
		}
		was, err := a.was(ctx)
		if err != nil {
			wrong = err
			return "", false
		}
		if stood := standing(was, id); stood == followed || stood == fixed && whole[m[0]] {
			return "", false
		}
		return a.Data[m[0]:m[3]] + zero + a.Data[m[3]:m[1]], true
	})
	return wrong
}
