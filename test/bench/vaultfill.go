package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	store "collie/internal/vault/workspace"
)

// library is a generated vault: one document with all others below it, on three levels. The same numbers give
// the same vault, including ids.
type library struct {
	box  string
	docs []string // ids, the one at the top first
	// blocks is how many there are, documents included.
	blocks int
}

const (
	sectionWords = 12   // words of an English paragraph
	sectionRunes = 24   // characters of a Chinese paragraph
	frequentStep = 3    // every third paragraph has the frequent words
	rareStep     = 2000 // every 2000th paragraph has the rare words
	batch        = 25   // documents per transaction
)

// words are the words of English paragraphs.
var words = strings.Fields(`the quick brown fox apple banana carrot server client gateway block document notebook paper
	search index table view page tree leaf root branch commit write read flush lock wait node list item code math quote
	river mountain window letter garden music winter summer morning evening market kitchen journey question answer`)

// author writes the documents of a library.
type author struct {
	library
	random     *rand.Rand
	perDoc     int
	paragraphs int
	referable  []string // ids of some blocks
	made       time.Time
}

// fillVault writes a library of documents with perDoc blocks each, themselves included.
func fillVault(ctx context.Context, w *store.Workspace, documents, perDoc int) (library, error) {
	a := &author{random: rand.New(rand.NewPCG(7, 11)), perDoc: perDoc, made: time.Date(2024, 1, 1, 8, 0, 0, 0, time.UTC)}
	err := w.Update(ctx, func(tx *store.Tx) error {
		a.box = tx.CreateNotebook("Library 书库").ID
		return nil
	})
	for err == nil && len(a.docs) < documents {
		err = w.Update(ctx, func(tx *store.Tx) error {
			for range min(batch, documents-len(a.docs)) {
				a.document(tx)
			}
			return tx.Err()
		})
	}
	return a.library, err
}

// document adds the next document.
func (a *author) document(tx *store.Tx) {
	n := len(a.docs)
	var parent *tree.Document
	if n > 0 {
		parent = tx.Document(a.docs[above(n)])
	}
	chinese := n%2 == 1
	title := fmt.Sprintf("Document %d", n)
	if chinese {
		title = fmt.Sprintf("第 %d 篇", n)
	}
	blocks := a.blocksOf(chinese)
	d := tx.AddDocument(tx.Notebook(a.box), parent, title, a.id(), tx.Identify(blocks))
	a.docs, a.blocks = append(a.docs, d.ID()), a.blocks+a.perDoc
}

// above returns the number of the parent of document n > 0: nine documents are below the first, ten below each of these
// nine, and the others are distributed evenly below those ninety.
func above(n int) int {
	switch {
	case n < 10:
		return 0
	case n < 100:
		return 1 + (n-10)/10
	}
	return 10 + (n-100)%90
}

// blocksOf makes the blocks of a document: sections with all that notes have, and paragraphs up to the number.
func (a *author) blocksOf(chinese bool) []*tree.Block {
	var blocks []*tree.Block
	left := a.perDoc - 1
	for left > 0 {
		text := a.section(chinese)
		if left < 30 {
			text = a.paragraph(chinese)
		}
		for _, b := range markup.Parse(text) {
			b.Walk(func(b *tree.Block) {
				if b.Attrs == nil {
					b.Attrs = map[string]string{}
				}
				b.Attrs["id"] = a.id()
				if b.Kind == tree.Paragraph && a.random.IntN(20) == 0 {
					a.referable = append(a.referable, b.Attrs["id"])
				}
				left--
			})
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// section returns a heading with blocks of all common kinds under it, as Markdown.
func (a *author) section(chinese bool) string {
	p := func() string { return a.paragraph(chinese) }
	list := fmt.Sprintf("- %s\n- %s\n  - %s\n", p(), p(), p())
	tasks := fmt.Sprintf("- [ ] %s\n- [x] %s\n", p(), p())
	return strings.Join([]string{
		"## " + p(), p(), p() + a.reference(), list, p() + a.tag(), tasks, "> " + p(), p(), "```go\nfmt.Println(1)\n```",
	}, "\n\n")
}

// paragraph is a line of text.
func (a *author) paragraph(chinese bool) string {
	a.paragraphs++
	var out strings.Builder
	if chinese {
		for range sectionRunes {
			out.WriteRune(rune(0x4e00 + int(3000*a.random.Float64()*a.random.Float64()))) // some far more often than others
		}
	} else {
		for range sectionWords {
			out.WriteString(words[a.random.IntN(len(words))] + " ")
		}
	}
	if a.paragraphs%frequentStep == 0 {
		out.WriteString(" frequent 常见词汇")
	}
	if a.paragraphs%rareStep == 0 {
		out.WriteString(" rareword 稀有词语")
	}
	return strings.TrimSpace(out.String())
}

func (a *author) tag() string {
	return fmt.Sprintf(" #project/%d# #项目#", a.random.IntN(50))
}

// reference returns a reference to a block that was made before, or "" if there is none.
func (a *author) reference() string {
	if len(a.referable) == 0 {
		return ""
	}
	return fmt.Sprintf(` ((%s "see 见"))`, a.referable[a.random.IntN(len(a.referable))])
}

// id returns a new id. The times in successive ids are 1 to 900 seconds apart.
func (a *author) id() string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	a.made = a.made.Add(time.Duration(1+a.random.IntN(900)) * time.Second)
	tail := make([]byte, 7)
	for i := range tail {
		tail[i] = letters[a.random.IntN(len(letters))]
	}
	return tree.Stamp(a.made) + "-" + string(tail)
}
