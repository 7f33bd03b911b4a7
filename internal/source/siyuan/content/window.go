package content

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file reads a document in parts that fit a limit of tokens.

// WindowOptions are the arguments of actions that read a document, which embed it. The schema has the limits.
type WindowOptions struct {
	BlockStart      int  `json:"blockStart" about:"first block to read" default:"0" min:"0"`
	BlockLimit      int  `json:"blockLimit" about:"blocks at most" default:"50" min:"1" max:"200"`
	TokenBudget     int  `json:"tokenBudget" about:"tokens at most, estimated" default:"2000" min:"1" max:"32000"`
	IncludeBlockIDs bool `json:"includeBlockIds" about:"add the ids of the blocks" default:"false" list:"no"`
}

// Window is a part of a document: whole blocks in order, as many as fit. The results of those actions embed it.
type Window struct {
	Content         string    `json:"content" about:"Markdown of whole blocks"`
	Outline         []Heading `json:"outline" about:"headings: {blockIndex, level, title, id}"`
	BlockStart      int       `json:"blockStart" about:"first block" verbose:"yes"`
	BlockLimit      int       `json:"blockLimit" about:"blocks at most" verbose:"yes"`
	ReturnedBlocks  int       `json:"returnedBlocks" about:"blocks here" verbose:"yes"`
	TotalBlocks     int       `json:"totalBlocks" about:"blocks of the document"`
	TokenBudget     int       `json:"tokenBudget" about:"tokens at most" verbose:"yes"`
	EstimatedTokens int       `json:"estimatedTokens" about:"tokens here, estimated"`
	TokenMode       string    `json:"tokenMode" about:"how they are estimated" verbose:"yes"`
	BudgetExceeded  bool      `json:"budgetExceeded,omitempty" about:"the first block alone is larger than the budget"`
	Truncated       bool      `json:"truncated" about:"blocks follow"`
	HasNextWindow   bool      `json:"hasNextWindow" about:"the same" verbose:"yes"`
	NextWindow      *Next     `json:"nextWindow,omitempty" about:"arguments that read on"`
	NextWindowHint  string    `json:"nextWindowHint,omitempty" about:"the same in words" verbose:"yes"`
	BlockRefs       []Ref     `json:"blockRefs,omitempty" about:"{blockIndex, id, type} of each block, with includeBlockIds"`

	AttributeViews []Database `json:"attributeViews,omitempty" about:"databases: {blockID, avID}"`
	Warning        string     `json:"warning,omitempty" about:"what the text does not show"`
	AvToolHint     string     `json:"avToolHint,omitempty" about:"how to read the databases"`

	NonFidelityWarning string   `json:"nonFidelityWarning,omitempty" about:"blocks are more than their text"`
	ComplexBlockTypes  []string `json:"complexBlockTypes,omitempty" about:"their types"`
	RecommendedReads   []string `json:"recommendedReads,omitempty" about:"what shows them" verbose:"yes"`

	// StateHash is the hash that [State] returns for the document. It is set if it costs nothing, because the window
	// is the whole document.
	StateHash string `json:"stateHash,omitempty" about:"for ifMatch, where the window is the whole document, or with verbose"`
}

// Heading is a heading: the first window lists those of the whole document, later windows their own.
type Heading struct {
	BlockIndex int       `json:"blockIndex"`
	Level      int       `json:"level"`
	Title      string    `json:"title"`
	ID         kernel.ID `json:"id,omitempty"`
}

// Next has the arguments to read what follows.
type Next struct {
	BlockStart  int `json:"blockStart"`
	BlockLimit  int `json:"blockLimit"`
	TokenBudget int `json:"tokenBudget"`
}

// Ref says which block is where in a window.
type Ref struct {
	BlockIndex int       `json:"blockIndex"`
	ID         kernel.ID `json:"id"`
	Type       string    `json:"type"`
}

// Database is a database in a document; ViewID is the id that the av tool takes.
type Database struct {
	BlockID kernel.ID `json:"blockID"`
	ViewID  kernel.ID `json:"avID,omitempty"`
}

// tokenMode names the way in which tokens are estimated.
const tokenMode = "approx_context_v1" //nolint:gosec // how tokens are counted

// ReadWindow reads a part of a document, which the caller may read. It makes one request for the list of blocks and
// one for the texts of each 50 blocks, or a single one for a long document. The first block is returned however long
// it is. A start after the end gives an empty window.
func ReadWindow(ctx context.Context, r *action.Request, doc kernel.ID, opts WindowOptions) (Window, error) {
	blocks, err := r.Kernel.ChildBlocks(ctx, doc)
	if err != nil {
		return Window{}, err
	}
	if err := RedactBlocks(ctx, r, blocks); err != nil {
		return Window{}, err
	}
	start := min(opts.BlockStart, len(blocks))
	end := min(start+opts.BlockLimit, len(blocks))
	w := Window{
		BlockStart: opts.BlockStart, BlockLimit: opts.BlockLimit, TotalBlocks: len(blocks),
		TokenBudget: opts.TokenBudget, TokenMode: tokenMode,
	}
	read := reader{opts: opts, window: &w}
	var known map[kernel.ID]string
	for at := start; at < end && !read.full; at += blocksPerRequest {
		some := blocks[at:min(at+blocksPerRequest, end)]
		if known[doc] == "" {
			if known, err = kramdownOf(ctx, r.Kernel, doc, blocks, some, start, end); err != nil {
				return Window{}, err
			}
			if read.redactor, err = NewRedactor(ctx, r, slices.Collect(maps.Values(known))...); err != nil {
				return Window{}, err
			}
		}
		read.addFitting(at, some, known)
	}
	read.finish(blocks, start)
	if text := known[doc]; text != "" && start == 0 && !w.Truncated {
		w.StateHash = StateHash(Saved{ID: doc, Kramdown: text})
	}
	return w, nil
}

// blocksPerRequest is how many blocks one request asks for.
const blocksPerRequest = 50

func blockIDs(blocks []kernel.Block) []kernel.ID {
	out := make([]kernel.ID, len(blocks), len(blocks)+1)
	for i, b := range blocks {
		out[i] = b.ID
	}
	return out
}

// reader fills a window.
type reader struct {
	opts          WindowOptions
	window        *Window
	parts         []string
	quarterTokens int // quarters of tokens
	full          bool
	types         []string  // of complex blocks
	redactor      *Redactor // nil if no notebook is hidden
}

// addFitting adds blocks as long as they fit, the first in any case; at is the index of the first of them.
func (d *reader) addFitting(at int, blocks []kernel.Block, texts map[kernel.ID]string) {
	for i, b := range blocks {
		kramdown, ok := texts[b.ID]
		if !ok {
			kramdown = b.Markdown // deleted in between
		}
		text := Visible(d.redactor.Text(kramdown))
		cost := 4*estimateTokens(text) + len("\n\n") // in quarters of tokens, with the blank line between blocks
		if len(d.parts) > 0 && (d.quarterTokens+cost+3)/4 > d.opts.TokenBudget {
			d.full = true
			return
		}
		d.quarterTokens += cost
		d.parts = append(d.parts, text)
		d.addBlock(at+i, b, kramdown)
	}
}

// addBlock records what a caller should know of a block besides its text.
func (d *reader) addBlock(index int, b kernel.Block, kramdown string) {
	w := d.window
	if d.opts.IncludeBlockIDs {
		w.BlockRefs = append(w.BlockRefs, Ref{index, b.ID, b.Type})
	}
	kind := b.Type
	if isContainer(kind) && !isNotText(kind) {
		kind = firstComplexType(kramdown)
	}
	if isNotText(kind) && !slices.Contains(d.types, kind) {
		d.types = append(d.types, kind)
	}
	for _, found := range databaseID.FindAllStringSubmatch(kramdown, -1) {
		if kind == "av" {
			w.AttributeViews = append(w.AttributeViews, Database{b.ID, kernel.ID(found[1])})
		}
	}
}

// finish fills in what depends on all that was read.
func (d *reader) finish(blocks []kernel.Block, start int) {
	w := d.window
	w.Content = strings.Join(d.parts, "\n\n")
	w.ReturnedBlocks = len(d.parts)
	w.EstimatedTokens = estimateTokens(w.Content)
	w.BudgetExceeded = w.EstimatedTokens > w.TokenBudget
	next := start + w.ReturnedBlocks
	w.Truncated = next < len(blocks)
	w.HasNextWindow = w.Truncated
	if w.HasNextWindow {
		w.NextWindow = &Next{next, w.BlockLimit, w.TokenBudget}
		w.NextWindowHint = fmt.Sprintf("blocks %d to %d of %d are here; go on with blockStart=%d", start, next-1, len(blocks), next)
	}
	if start > 0 {
		w.Outline = headingsFrom(blocks[:next], start, d.opts.IncludeBlockIDs)
	} else {
		w.Outline = headingsFrom(blocks, 0, d.opts.IncludeBlockIDs)
	}
	if len(w.AttributeViews) > 0 {
		w.Warning = "databases are shown as empty elements: their rows are not part of the text"
		w.AvToolHint = fmt.Sprintf(`av(action="render", id="%s") shows the rows`, w.AttributeViews[0].ViewID)
	}
	if len(d.types) > 0 {
		w.ComplexBlockTypes = d.types
		w.NonFidelityWarning = "some blocks hold more than this text shows, so fs cannot edit them"
		w.RecommendedReads = []string{`block(action="get_kramdown")`, `block(action="dom")`}
		if slices.Contains(d.types, "av") {
			w.RecommendedReads = append(w.RecommendedReads, `av(action="render")`)
		}
	}
}

// headingsFrom lists the headings among blocks, from an index on.
func headingsFrom(blocks []kernel.Block, from int, ids bool) []Heading {
	out := []Heading{}
	for i := from; i < len(blocks); i++ {
		b := blocks[i]
		if b.Type != "h" {
			continue
		}
		level, _ := strconv.Atoi(strings.TrimPrefix(b.SubType, "h")) // 0 if unknown
		h := Heading{BlockIndex: i, Level: level, Title: Clean(strings.TrimSpace(b.Content))}
		if ids {
			h.ID = b.ID
		}
		out = append(out, h)
	}
	return out
}

// TextWindow returns a [Window] of a text that is not a document; its paragraphs count as blocks.
func TextWindow(text string, opts WindowOptions) Window {
	var blocks []kernel.Block
	for _, part := range splitTopLevel(strings.ReplaceAll(text, "\r\n", "\n")) {
		b := kernel.Block{Type: "p", Content: part, Markdown: part}
		if marks := runLength(part, '#'); heading.MatchString(part) {
			b.Type, b.SubType, b.Content = "h", "h"+string(rune('0'+marks)), part[marks:]
		}
		blocks = append(blocks, b)
	}
	w := Window{
		BlockStart: opts.BlockStart, BlockLimit: opts.BlockLimit, TotalBlocks: len(blocks),
		TokenBudget: opts.TokenBudget, TokenMode: tokenMode,
	}
	opts.IncludeBlockIDs = false
	read := reader{opts: opts, window: &w}
	start := min(opts.BlockStart, len(blocks))
	for i, b := range slices.All(blocks[start:min(start+opts.BlockLimit, len(blocks))]) {
		if read.full {
			break
		}
		read.addFitting(start+i, []kernel.Block{b}, nil)
	}
	read.finish(blocks, start)
	return w
}

// ReplaceText makes edits in a text that is not a document, with the rules of [Replace], and returns the new text.
func ReplaceText(subject, text string, edits Edits) (string, Replaced, error) {
	out := Replaced{Replacements: []Replacements{}, ChangedBlocks: []kernel.ID{}}
	p := newEditedBlock(kernel.Block{Type: "text"}, text, nil)
	e := editor{subject: subject, blocks: []*editedBlock{p}}
	for i, edit := range edits {
		n, err := e.apply(i, edit)
		if err != nil {
			return text, Replaced{}, err
		}
		out.Replacements = append(out.Replacements, Replacements{i, n, edit.All})
		out.EditsApplied++
	}
	out.Changed = p.kramdown() != text
	return p.kramdown(), out, nil
}

// ZeroWidth has the invisible characters that the editor leaves in texts.
const ZeroWidth = "\u200b\u200c\u200d\u2060\ufeff"

// Clean removes the zero-width characters that the editor leaves in texts: U+200B, U+200C, U+200D, U+2060 and U+FEFF.
func Clean(text string) string {
	if !strings.ContainsAny(text, ZeroWidth) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(ZeroWidth, r) {
			return -1
		}
		return r
	}, text)
}

// Clip returns at most the first limit characters of a text, with "…" if some are cut.
func Clip(text string, limit int) string {
	n := 0
	for i := range text {
		if n == limit {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// estimateTokens estimates the tokens of a text: its UTF-16 length divided by 4, rounded up ("approx_context_v1").
func estimateTokens(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return (n + 3) / 4
}

// WithoutTitle removes a first line "# Title" that repeats the title of the document to be created.
func WithoutTitle(markdown, title string) string {
	rest := strings.TrimLeft(markdown, "\r\n")
	line, after, _ := strings.Cut(rest, "\n")
	name, heading := strings.CutPrefix(strings.TrimSpace(line), "# ")
	if !heading || strings.TrimSpace(name) != strings.TrimSpace(title) {
		return markdown
	}
	return strings.TrimLeft(after, "\r\n")
}
