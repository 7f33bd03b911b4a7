package flashcard

import (
	"context"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// This file splits the block of a card into question and answer.

// cardSides are front and back of a card, and how it is to be reviewed.
type cardSides struct {
	HPath  string     `json:"hPath,omitempty"`
	Front  string     `json:"front" about:"what is asked"`
	Back   string     `json:"back" about:"the answer"`
	Review reviewMode `json:"review" about:"kind, prompt, referenceAnswer, gradable"`
}

type reviewMode struct {
	Kind     string `json:"kind"` // heading, cloze, super-block, list or plain
	Prompt   string `json:"prompt"`
	Answer   string `json:"referenceAnswer"`
	Gradable bool   `json:"gradable"` // whether there is an answer to compare with
}

// block is a card's block as SQL has it.
type block struct {
	ID       kernel.ID `json:"id"`
	Type     string    `json:"type"`
	Markdown string    `json:"markdown"`
	HPath    string    `json:"hpath"`
}

// readSides reads the blocks of cards and turns them into questions and answers.
func readSides(ctx context.Context, r *action.Request, ids []kernel.ID) (map[kernel.ID]cardSides, error) {
	out := map[kernel.ID]cardSides{}
	for chunk := range slices.Chunk(ids, 50) {
		rows, err := kernel.SQL[block](ctx, r.Kernel, "SELECT DISTINCT id, type, markdown, hpath FROM blocks WHERE id IN ("+kernel.QuoteIDs(chunk)+") LIMIT 200")
		if err != nil {
			return nil, err
		}
		if err := content.RedactTexts(ctx, r, rows, func(b *block) (string, *string, *string) { return b.Type, new(string), &b.Markdown }); err != nil {
			return nil, err
		}
		for _, row := range rows {
			if _, done := out[row.ID]; done {
				continue
			}
			s, err := sidesOfBlock(ctx, r, &row)
			if err != nil {
				return nil, err
			}
			s.HPath = row.HPath
			out[row.ID] = s
		}
	}
	return out, nil
}

// verbatimTypes are the types of blocks whose text has no marks.
var verbatimTypes = map[string]bool{"c": true, "m": true, "html": true}

// nestedTypes are the types whose children are the back.
var nestedTypes = map[string]string{"h": "heading", "s": "super-block", "l": "list", "i": "list"}

func sidesOfBlock(ctx context.Context, r *action.Request, b *block) (cardSides, error) {
	kind, ok := nestedTypes[b.Type]
	switch {
	case verbatimTypes[b.Type]:
		return plainCard(content.Clean(b.Markdown)), nil
	case !ok:
		return plainSides(content.Clean(b.Markdown)), nil
	}
	children, err := r.Kernel.ChildBlocks(ctx, b.ID)
	if err != nil {
		return cardSides{}, err
	}
	if b.Type == "l" && len(children) > 0 { // the first item of a list holds question and answer, and so may the others
		first, err := r.Kernel.ChildBlocks(ctx, children[0].ID)
		if err != nil {
			return cardSides{}, err
		}
		children = append(first, children[1:]...)
	}
	if err := content.RedactBlocks(ctx, r, children); err != nil {
		return cardSides{}, err
	}
	var parts []string
	for _, c := range children {
		parts = append(parts, content.Clean(c.Markdown))
	}
	front := strings.TrimSpace(strings.TrimLeft(content.Clean(firstLine(b.Markdown)), "#"))
	if b.Type != "h" && len(parts) > 0 {
		front, parts = parts[0], parts[1:]
	}
	back := strings.Join(parts, "\n\n")
	if back == "" {
		return plainSides(front), nil
	}
	return cardSides{Front: front, Back: back, Review: reviewMode{kind, front, back, true}}, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// hiddenMark is ==text== that a card hides, which may be bold and have a single = in it; or a stretch of code, in which
// there are no marks.
var hiddenMark = lazyregexp.New("(`+)[^`]+`+|==(\\S|\\S(?:\n?.)*?\n?\\S)==")

// plainSides splits a card of one paragraph: the marked words are the answer.
func plainSides(text string) cardSides {
	var answers []string
	fill := func(with func(answer string) string) string {
		return hiddenMark.ReplaceAllStringFunc(text, func(found string) string {
			if found[0] == '`' {
				return found
			}
			return with(found[2 : len(found)-2])
		})
	}
	front := fill(func(answer string) string {
		answers = append(answers, answer)
		return "____"
	})
	if len(answers) == 0 {
		return plainCard(text)
	}
	back := fill(func(answer string) string { return answer })
	return cardSides{Front: front, Back: back, Review: reviewMode{"cloze", front, strings.Join(answers, "; "), true}}
}

// plainCard returns a card with nothing to compare an answer with.
func plainCard(text string) cardSides {
	return cardSides{Front: text, Review: reviewMode{Kind: "plain", Prompt: text}}
}
