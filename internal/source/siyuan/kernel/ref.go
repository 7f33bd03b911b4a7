package kernel

import (
	"context"
	"fmt"
	"strings"
)

// This file has the endpoints for references and backlinks.

// BacklinkDocument is a document that refers to a block or mentions it.
type BacklinkDocument struct {
	ID       ID     `json:"id"`
	Notebook ID     `json:"box"`
	Name     string `json:"name"`
	HPath    string `json:"hPath"` // begins with the name of its notebook
	Count    int    `json:"count"` // number of such blocks
}

// BacklinkDocuments lists the documents that refer to a block, or to anything in a document, and those that mention
// it by name without referring to it.
func (c *Client) BacklinkDocuments(ctx context.Context, id ID) (links, mentions []BacklinkDocument, err error) {
	var out struct{ Backlinks, Backmentions []BacklinkDocument }
	err = c.call(ctx, "/api/ref/getBacklink2", readIndexData, map[string]any{
		"id": id, "k": "", "mk": "", "sort": "3", "mSort": "3", "containChildren": true,
	}, &out)
	return out.Backlinks, out.Backmentions, err
}

// BacklinkBlock is a block that refers to or mentions another, in the editor's form.
type BacklinkBlock struct {
	DOM string `json:"dom"`
}

// BacklinksIn returns the blocks of the document ref that refer to a block, or to anything in a document. ok is false
// if the kernel gave no usable answer. There is no keyword parameter, since the kernel puts a keyword into SQL
// unescaped, where it could write.
func (c *Client) BacklinksIn(ctx context.Context, id, ref ID) (blocks []BacklinkBlock, ok bool, err error) {
	return c.backlinksIn(ctx, "/api/ref/getBacklinkDoc", id, ref)
}

// MentionsIn is like [Client.BacklinksIn] for blocks that mention without referring.
func (c *Client) MentionsIn(ctx context.Context, id, ref ID) (blocks []BacklinkBlock, ok bool, err error) {
	return c.backlinksIn(ctx, "/api/ref/getBackmentionDoc", id, ref)
}

func (c *Client) backlinksIn(ctx context.Context, endpoint string, id, ref ID) ([]BacklinkBlock, bool, error) {
	type found struct{ Backlinks, Backmentions []BacklinkBlock }
	out, err := callFor[*found](ctx, c, endpoint, readIndex, map[string]any{"defID": id, "refTreeID": ref, "keyword": ""})
	if err != nil || out == nil {
		return nil, false, err
	}
	return append(out.Backlinks, out.Backmentions...), true, nil
}

// Reference is a block that refers to another.
type Reference struct {
	ID       ID     `json:"id"`
	Notebook ID     `json:"box"`
	Root     ID     `json:"root_id"`
	Path     string `json:"path"`
	HPath    string `json:"hpath"`
	Type     string `json:"type"` // p, h, …
	Content  string `json:"content"`
	Markdown string `json:"markdown"`
	Target   ID     `json:"target"` // the block it refers to
	Anchor   string `json:"anchor"` // the text that it shows there
	// Reference is the reference itself, as Markdown.
	Reference string `json:"reference"`
}

// References returns the blocks that refer to a block or, with document set, to anything in a document: at most limit
// rows of the index, from the notebooks of in, where nil means all. Rows may repeat. A reference to a missing block has an
// empty def_block_id, and the document of something else.
func (c *Client) References(ctx context.Context, id ID, document bool, in []Notebook, limit int) ([]Reference, error) {
	column := "def_block_id"
	if document {
		column = "def_block_root_id"
	}
	if !id.Valid() {
		return nil, nil
	}
	within := ""
	if in != nil {
		within = "AND b.box IN (" + notebookIDs(in) + ") "
	}
	return SQL[Reference](ctx, c, fmt.Sprintf("SELECT DISTINCT b.id, b.box, b.root_id, b.path, b.hpath, b.type, b.content, b.markdown, "+
		"r.def_block_id AS target, r.content AS anchor, r.markdown AS reference FROM refs AS r JOIN blocks AS b ON b.id = r.block_id WHERE r.%s = %s AND r.def_block_id <> '' "+within+
		"ORDER BY b.updated DESC, b.id LIMIT %d", column, Quote(string(id)), limit))
}

// MentioningDocuments lists the documents in the notebooks of in that may mention a block or document: one of their texts
// contains its title, its name or an alias. Its own document root is left out. HPath lacks the notebook's name.
func (c *Client) MentioningDocuments(ctx context.Context, id, root ID, in []Notebook, limit int) ([]BacklinkDocument, error) {
	type row struct{ Content, Name, Alias string }
	found, err := SQL[row](ctx, c, "SELECT DISTINCT content, name, alias FROM blocks WHERE id = "+Quote(string(id))+" LIMIT 2")
	if err != nil || len(found) == 0 {
		return nil, err
	}
	names := append(strings.Split(found[0].Alias, ","), found[0].Name)
	if id == root {
		names = append(names, found[0].Content)
	}
	var conditions []string
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			conditions = append(conditions, "instr(lower(content), lower("+Quote(name)+")) > 0")
		}
	}
	if len(conditions) == 0 || len(in) == 0 {
		return nil, nil
	}
	type document struct {
		ID       ID     `json:"root_id"`
		Notebook ID     `json:"box"`
		HPath    string `json:"hpath"`
	}
	rows, err := SQL[document](ctx, c, fmt.Sprintf("SELECT root_id, box, hpath FROM blocks WHERE box IN (%s) AND root_id <> %s AND %s AND (%s) "+
		"GROUP BY root_id, box, hpath ORDER BY max(updated) DESC LIMIT %d", notebookIDs(in), Quote(string(root)), leafCondition, strings.Join(conditions, " OR "), limit))
	var out []BacklinkDocument
	for _, d := range rows {
		out = append(out, BacklinkDocument{ID: d.ID, Notebook: d.Notebook, HPath: d.HPath})
	}
	return out, err
}

// notebookIDs returns the ids of notebooks as an SQL list.
func notebookIDs(list []Notebook) string {
	ids := make([]ID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return QuoteIDs(ids)
}
