package block

import (
	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// getBlockKramdown returns a block as Markdown with attribute lists, "" if it does not exist.
func getBlockKramdown(tx *workspace.Tx, req api.Request) api.Reply {
	id, render, text := req.ID("id"), renderer(req), ""
	if b := tx.Block(id); b != nil {
		text = render(b)
	}
	return api.OK(map[string]any{"id": id, "kramdown": text})
}

// getBlockKramdowns is like getBlockKramdown for several blocks. Those that do not exist are left out.
func getBlockKramdowns(tx *workspace.Tx, req api.Request) api.Reply {
	ids, render := req.Strs("ids"), renderer(req)
	texts := map[string]string{}
	for _, id := range ids {
		if b := tx.Block(id); b != nil {
			texts[id] = render(b)
		}
	}
	return api.OK(texts)
}

// renderer returns the function that renders blocks in the mode of a request: with marks in Markdown, or as elements of
// the editor.
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

// getBlockDOM returns a block as DOM, "" if it does not exist.
func getBlockDOM(tx *workspace.Tx, req api.Request) api.Reply {
	id, dom := req.ID("id"), ""
	if b := tx.Block(id); b != nil {
		dom = markup.DOM(b)
	}
	return api.OK(map[string]any{"dom": dom, "id": id})
}

// getBlockDOMs is like getBlockDOM for several blocks. Those that do not exist are left out.
func getBlockDOMs(tx *workspace.Tx, req api.Request) api.Reply {
	doms := map[string]string{}
	for _, id := range req.Strs("ids") {
		if b := tx.Block(id); b != nil {
			doms[id] = markup.DOM(b)
		}
	}
	return api.OK(doms)
}

// spinBlockDOM converts the DOM of typed blocks to the DOM that would be saved.
func spinBlockDOM(tx *workspace.Tx, req api.Request) api.Reply {
	blocks := tx.Identify(markup.ParseDOM(req.Str("dom")))
	return api.OK(map[string]any{"dom": markup.DOMs(blocks)})
}
