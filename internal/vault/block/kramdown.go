package block

import (
	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// getBlockKramdown shows a block with its attribute lists; one that does not exist is "".
func getBlockKramdown(tx *workspace.Tx, req api.Request) api.Reply {
	id, render, text := req.ID("id"), renderer(req), ""
	if b := tx.Block(id); b != nil {
		text = render(b)
	}
	return api.OK(map[string]any{"id": id, "kramdown": text})
}

// getBlockKramdowns shows many blocks; those that do not exist are left out.
func getBlockKramdowns(tx *workspace.Tx, req api.Request) api.Reply {
	ids, render := req.Strs("ids"), renderer(req)
	found := map[string]string{}
	for _, id := range ids {
		if b := tx.Block(id); b != nil {
			found[id] = render(b)
		}
	}
	return api.OK(found)
}

// renderer returns how the mode of a request wants blocks: with Markdown's own marks, or with those of the editor.
func renderer(req api.Request) func(*tree.Block) string {
	switch req.OptStr("mode") {
	case "", "md":
		return markup.Kramdown
	case "textmark":
		return func(b *tree.Block) string { return markup.Textmark(b) + "\n" }
	}
	req.End(api.Fail(-1, "Invalid mode"))
	return markup.Kramdown
}

// getBlockDOM shows a block as the editor does; one that does not exist is "".
func getBlockDOM(tx *workspace.Tx, req api.Request) api.Reply {
	id, dom := req.ID("id"), ""
	if b := tx.Block(id); b != nil {
		dom = markup.DOM(b)
	}
	return api.OK(map[string]any{"dom": dom, "id": id})
}

// getBlockDOMs is getBlockDOM for many blocks; those that do not exist are left out.
func getBlockDOMs(tx *workspace.Tx, req api.Request) api.Reply {
	found := map[string]string{}
	for _, id := range req.Strs("ids") {
		if b := tx.Block(id); b != nil {
			found[id] = markup.DOM(b)
		}
	}
	return api.OK(found)
}

// spinBlockDOM turns the DOM of typed blocks into the DOM that would be saved.
func spinBlockDOM(tx *workspace.Tx, req api.Request) api.Reply {
	blocks := tx.Identify(markup.ParseDOM(req.Str("dom")))
	return api.OK(map[string]any{"dom": markup.DOMs(blocks)})
}
