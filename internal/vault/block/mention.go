package block

import (
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// indexedLength is the number of characters from which on a text can be looked up in the full text index.
const indexedLength = 3

// mentioningDocs lists the documents that mention the document of def: they have paragraphs with its title in plain text.
// Only paragraphs that contain the keyword count.
func mentioningDocs(tx *workspace.Tx, def *tree.Block, keyword string) backlinks {
	list := backlinks{}
	title := mentionName(def)
	if title == "" {
		return list
	}
	const markdownColumn, contentColumn = ownColumn, ownColumn + 1
	from, condition, value := "node", "instr(node.content, ?) > 0", title
	if utf8.RuneCountInString(title) >= indexedLength {
		from, condition = "blocks_fts CROSS JOIN node ON node.n = blocks_fts.rowid", "blocks_fts MATCH ?"
		value = `content : "` + strings.ReplaceAll(title, `"`, `""`) + `"`
	}
	tx.Rows(func(row workspace.Row) bool {
		if mentionsTitle(row.Text(markdownColumn), title) && contains(row.Text(contentColumn), keyword) {
			list.add(row)
		}
		return true
	}, `SELECT `+documentColumns+`, node.markdown, node.content
		FROM `+from+` CROSS JOIN document ON document.n = node.doc
		JOIN node AS root ON root.id = document.id JOIN notebook ON notebook.id = document.box
		WHERE `+condition+` AND node.type = 'p' AND document.id <> ? AND document.id <> document.box AND notebook.closed = 0
		ORDER BY document.n, node.n`, value, def.ID)
	return list
}

// mentionName returns the name by which def is mentioned, "" if def is not a document.
func mentionName(def *tree.Block) string {
	if def.Kind != tree.Doc {
		return ""
	}
	return def.Attrs["title"]
}

// mentionsTitle reports whether the text of a leaf contains a title outside of marks and links.
func mentionsTitle(text, title string) bool {
	return slices.ContainsFunc(markup.Spans(text), func(s markup.Span) bool {
		return s.Kind == "" && strings.Contains(s.Content, title)
	})
}

// getBackmentionDoc returns the paragraphs of one document that mention another document.
func getBackmentionDoc(tx *workspace.Tx, req api.Request) api.Reply {
	def, d := tx.Block(req.Str("defID")), tx.Document(req.Str("refTreeID"))
	keyword := req.Str("keyword")
	if def == nil || d == nil {
		return api.OK(map[string]any{"backmentions": []shownBlock{}, "keywords": nil})
	}
	title := def.Attrs["title"]
	list := []shownBlock{}
	for _, b := range mentionsIn(d, def) {
		list = appendShown(list, b, keyword, title)
	}
	return api.OK(map[string]any{"backmentions": list, "keywords": []string{title}})
}

// mentionsIn returns the paragraphs of a document that have the title of def in plain text.
func mentionsIn(d *tree.Document, def *tree.Block) []*tree.Block {
	title := mentionName(def)
	if title == "" || d.Root == def || d.Hidden() {
		return nil
	}
	var mentions []*tree.Block
	d.Root.Walk(func(b *tree.Block) {
		if b.Kind == tree.Paragraph && mentionsTitle(b.Text, title) {
			mentions = append(mentions, b)
		}
	})
	return mentions
}
