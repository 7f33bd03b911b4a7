package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type wordCountArgs struct {
	IDs []kernel.ID `json:"ids" about:"blocks or documents" req:"true" min:"1" max:"500"`
}

type wordCountResult struct {
	kernel.Stat
	// Unknown where the kernel counts what must not show.
	RuneCount *int   `json:"runeCount,omitempty" about:"characters"`
	WordCount *int   `json:"wordCount,omitempty" about:"words; of Chinese each character"`
	Hint      string `json:"hint,omitempty" about:"why words and characters are missing"`
}

func wordCount() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "word_count",
		Purpose:    "Count words, characters, links, images and references in blocks",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnBlock(access.Read, "ids")},
		Endpoints:  []string{"block/getBlocksWordCount", "block/getBlockKramdowns", "query/sql"},
		Aliases:    map[string]string{"id": "ids"},
		Positional: []string{"ids"},
		Result:     wordCountResult{},
		Example:    `{"ids":["20260102030405-abcdefg"]}`,
	}, func(ctx context.Context, r *action.Request, a wordCountArgs) (any, error) {
		stat, err := r.Kernel.WordCount(ctx, a.IDs)
		if err != nil {
			return nil, err
		}
		out := wordCountResult{Stat: stat, RuneCount: &stat.RuneCount, WordCount: &stat.WordCount}
		copied, err := content.Copied(ctx, r, a.IDs)
		if copied {
			out.RuneCount, out.WordCount = nil, nil
			out.Hint = "a reference in there shows a text that cannot be read, so that words and characters are not counted"
		}
		return out, err
	})
}
