package block

import (
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

func prepend() *action.Action {
	return childAction(action.Spec{
		Name: "prepend", Purpose: "Add content at the beginning of a document or container block",
		Endpoints: []string{"block/prependBlock", "block/insertBlock", "block/getBlockTreeInfos", "block/getChildBlocks", "block/getBlockKramdowns"},
	}, first, (*kernel.Client).Prepend)
}
