package flashcard

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// Front and back of a card, and how it is to be reviewed.
type sides struct {
	Front  string `json:"front"`
	Back   string `json:"back"`
	Review review `json:"review"`
}

type review struct {
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
}

// sidesOf reads the blocks of cards and turns them into questions and answers.
func sidesOf(ctx context.Context, r *action.Request, ids []kernel.ID) (map[kernel.ID]sides, error) {
	out := map[kernel.ID]sides{}
	for chunk := range slices.Chunk(ids, 50) {
		rows, err := kernel.SQL[block](ctx, r.Kernel, "SELECT DISTINCT id, type, markdown FROM blocks WHERE id IN ("+kernel.QuoteIDs(chunk)+") LIMIT 200")
		if err != nil {
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
			out[row.ID] = s
		}
	}
	return out, nil
}

// nested are the types whose children are the back.
var nested = map[string]string{"h": "heading", "s": "super-block", "l": "list", "i": "list"}

func sidesOfBlock(ctx context.Context, r *action.Request, b *block) (sides, error) {
	kind, ok := nested[b.Type]
	if !ok {
		return plainSides(content.Clean(b.Markdown)), nil
	}
	children, err := r.Kernel.ChildBlocks(ctx, b.ID)
	if err != nil {
		return sides{}, err
	}
	if b.Type == "l" && len(children) > 0 { // the first item of a list holds question and answer
		if children, err = r.Kernel.ChildBlocks(ctx, children[0].ID); err != nil {
			return sides{}, err
		}
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
	return sides{Front: front, Back: back, Review: review{kind, front, back, true}}, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// mark is ==text== that a card hides.
var mark = regexp.MustCompile(`==([^=\n]+)==`)

// plainSides is a card of one paragraph: its marks are what is asked for.
func plainSides(text string) sides {
	var answers []string
	for _, m := range mark.FindAllStringSubmatch(text, -1) {
		answers = append(answers, m[1])
	}
	if len(answers) == 0 {
		return sides{Front: text, Review: review{Kind: "plain", Prompt: text}}
	}
	front := mark.ReplaceAllString(text, "____")
	answer := strings.Join(answers, "; ")
	return sides{Front: front, Back: mark.ReplaceAllString(text, "$1"), Review: review{"cloze", front, answer, true}}
}
