package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type wordCountArgs struct {
	IDs []kernel.ID `json:"ids" about:"blocks or documents" req:"true" min:"1" max:"500"`
}

func wordCount() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "word_count",
		Purpose:    "Count words, characters, links, images and references in blocks",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnBlock(access.Read, "ids")},
		Endpoints:  []string{"block/getBlocksWordCount"},
		Aliases:    map[string]string{"id": "ids"},
		Positional: []string{"ids"},
		Returns: []action.Field{
			{Name: "wordCount", About: "words; of Chinese each character"},
			{Name: "runeCount", About: "characters"},
			{Name: "linkCount", About: "links"},
			{Name: "imageCount", About: "images"},
			{Name: "refCount", About: "block references"},
			{Name: "blockCount", About: "blocks"},
		},
		Example: `{"ids":["20260102030405-abcdefg"]}`,
	}, func(ctx context.Context, r *action.Request, a wordCountArgs) (any, error) {
		return r.Kernel.WordCount(ctx, a.IDs)
	})
}
