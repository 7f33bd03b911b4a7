package kernel

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
)

// This file has the endpoints for assets.

// Uploaded is the result of uploading files.
type Uploaded struct {
	Failed []string          `json:"errFiles"`
	Stored map[string]string `json:"succMap"` // asset path by name as sent
}

// UploadAsset stores size bytes of content as an asset below dir, such as "/assets/". The stored name gets an id,
// unless the same file exists already. content is read once and not closed. The request is never repeated.
func (c *Client) UploadAsset(ctx context.Context, dir, name string, content io.Reader, size int64) (Uploaded, error) {
	var out Uploaded
	err := c.upload(ctx, "/api/asset/upload", [][2]string{{"assetsDirPath", dir}}, filePart{"file[]", name, content, size}, &out)
	return out, err
}

// MaxUnusedAssets is the most unused assets that the kernel names.
const MaxUnusedAssets = 512

// UnusedAssets returns the paths of assets that the kernel finds in no document and no database. They may include
// folders, and used assets whose name has a character that Markdown encodes, such as a space, because the kernel
// searches for the encoded name (rows 49 and 50 of the recording assets.jsonl).
func (c *Client) UnusedAssets(ctx context.Context) ([]string, error) {
	const endpoint = "/api/asset/getUnusedAssets"
	raw, err := callFor[json.RawMessage](ctx, c, endpoint, readIndex, nil)
	if err != nil {
		return nil, err
	}
	var items []struct{ Item string }
	if json.Unmarshal(raw, &items) == nil {
		out := []string{}
		for _, i := range items {
			out = append(out, strings.TrimPrefix(i.Item, "/"))
		}
		return out, nil
	}
	var old struct{ UnusedAssets []string } // kernels before 3.7
	if err := json.Unmarshal(raw, &old); err != nil {
		return nil, unexpectedDataError(endpoint, read, err)
	}
	return append([]string{}, old.UnusedAssets...), nil
}

// RemoveUnusedAsset removes a file below data/. The kernel does not check that it is unused, nor that it is an asset:
// the caller must.
func (c *Client) RemoveUnusedAsset(ctx context.Context, path string) error {
	return c.call(ctx, "/api/asset/removeUnusedAsset", writeData, map[string]any{"path": path}, nil)
}

// AssetFile returns the file on the kernel's machine for an address such as "assets/a.png", as documents write it:
// the file in the common folder, else one in the folder of any notebook or document. [Client.RenameAsset] renames the
// same file.
func (c *Client) AssetFile(ctx context.Context, address string) (string, error) {
	out, err := callFor[string](ctx, c, "/api/asset/resolveAssetPath", readData, map[string]any{"path": address})
	return strings.ReplaceAll(out, `\`, "/"), err
}

// RenameAsset renames an asset in its folder and in every document that uses it. The new name gets the old extension
// and a new id. The kernel checks nothing (rows 58 to 60 of the recording assets.jsonl).
func (c *Client) RenameAsset(ctx context.Context, path, name string) (newPath string, err error) {
	return callFor[string](ctx, c, "/api/asset/renameAsset", writeData.withMember("newPath"), map[string]any{"oldPath": path, "newName": name})
}

// DocumentAssets returns the assets of a document as its Markdown names them, or only its images.
func (c *Client) DocumentAssets(ctx context.Context, id ID, images bool) ([]string, error) {
	endpoint := "/api/asset/getDocAssets"
	if images {
		endpoint = "/api/asset/getDocImageAssets"
	}
	return callFor[[]string](ctx, c, endpoint, read, map[string]any{"id": id})
}

// ImageText returns the text that was recognized in an image; empty if there is none.
func (c *Client) ImageText(ctx context.Context, path string) (string, error) {
	return callFor[string](ctx, c, "/api/asset/getImageOCRText", readData.withMember("text"), map[string]any{"path": path})
}

// AssetUse is a place where a document names an asset.
type AssetUse struct {
	Notebook ID     `json:"box"`
	Path     string `json:"path"` // as in the document, perhaps percent-encoded
}

// AssetUses returns the notebooks whose documents may use an asset that can be written in any of these spellings. It
// returns exact matches, and all uses written with an escape, a query or a fragment, for the caller to compare. Uses
// in the blocks or documents of except are left out. The index is always flushed, whoever wrote last, since the result
// decides what may be done.
func (c *Client) AssetUses(ctx context.Context, spellings []string, except ...ID) ([]AssetUse, error) {
	c.dirty.Store(true)
	without := ""
	if ids := QuoteIDs(except); ids != "" {
		without = " AND block_id NOT IN (" + ids + ") AND root_id NOT IN (" + ids + ")"
	}
	return SQL[AssetUse](ctx, c, "SELECT DISTINCT box, path FROM assets WHERE (path IN ("+quoteAll(spellings)+
		") OR instr(path, '%') > 0 OR instr(path, '?') > 0 OR instr(path, '#') > 0)"+without+" LIMIT 1000000")
}

// NotebooksMentioning returns the notebooks in which the text or attributes of a block contain one of texts.
func (c *Client) NotebooksMentioning(ctx context.Context, texts []string) ([]ID, error) {
	var where []string
	for _, t := range texts {
		where = append(where, "instr(markdown, "+Quote(t)+") > 0", "instr(ial, "+Quote(t)+") > 0")
	}
	rows, err := SQL[AssetUse](ctx, c, "SELECT DISTINCT box FROM blocks WHERE "+strings.Join(where, " OR ")+" LIMIT 100000")
	var out []ID
	for _, row := range rows {
		out = append(out, row.Notebook)
	}
	return out, err
}

// leafCondition is the SQL condition for blocks with text of their own.
const leafCondition = "type NOT IN ('d','l','i','b','s','callout')"

// ContainingBlock is a block that contains a text. InText is 0 if only its attributes do.
type ContainingBlock struct {
	ID     ID  `json:"id"`
	Root   ID  `json:"root_id"`
	InText int `json:"in_text"`
}

// BlocksContaining returns the blocks whose own text or attributes contain one of texts.
func (c *Client) BlocksContaining(ctx context.Context, texts []string) ([]ContainingBlock, error) {
	var text, attrs []string
	for _, t := range texts {
		text = append(text, "instr(markdown, "+Quote(t)+") > 0")
		attrs = append(attrs, "instr(ial, "+Quote(t)+") > 0")
	}
	inText := "(" + leafCondition + " AND (" + strings.Join(text, " OR ") + "))"
	return SQL[ContainingBlock](ctx, c, "SELECT DISTINCT id, root_id, "+inText+" AS in_text FROM blocks WHERE "+
		inText+" OR "+strings.Join(attrs, " OR ")+" LIMIT 10000")
}

// AssetsOf returns the assets that documents of some notebooks show, each once, as paths below data/.
func (c *Client) AssetsOf(ctx context.Context, notebooks []Notebook) ([]string, error) {
	if len(notebooks) == 0 {
		return nil, nil
	}
	c.dirty.Store(true)
	rows, err := SQL[AssetUse](ctx, c, "SELECT DISTINCT path FROM assets WHERE box IN ("+notebookIDs(notebooks)+") ORDER BY path LIMIT 1000000")
	var out []string
	for _, row := range rows {
		p := row.Path
		if i := strings.IndexAny(p, "?#"); i >= 0 {
			p = p[:i]
		}
		if plain, err := url.PathUnescape(p); err == nil {
			p = plain
		}
		if !slices.Contains(out, p) && path.Clean(p) == p {
			out = append(out, p)
		}
	}
	return out, err
}

// AssetText is a text of a block, or its attributes, that contains "assets/".
type AssetText struct {
	Notebook ID     `json:"box"`
	Text     string `json:"text"`
}

// AssetTextsOutside returns the texts and attributes that contain "assets/" in blocks of all notebooks but those of except.
// The caller may search them for spellings that [Client.UnusedAssets] does not know.
func (c *Client) AssetTextsOutside(ctx context.Context, except []ID) ([]AssetText, error) {
	c.dirty.Store(true)
	outside := ""
	if len(except) > 0 {
		outside = " AND box NOT IN (" + QuoteIDs(except) + ")"
	}
	var out []AssetText
	for _, from := range []string{
		"markdown AS text FROM blocks WHERE " + leafCondition + " AND instr(markdown, 'assets/') > 0",
		"ial AS text FROM blocks WHERE instr(ial, 'assets/') > 0",
	} {
		rows, err := SQL[AssetText](ctx, c, "SELECT DISTINCT box, "+from+outside+" LIMIT 1000000")
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// quoteAll returns texts as an SQL list.
func quoteAll(texts []string) string {
	if len(texts) == 0 {
		return "''"
	}
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = Quote(t)
	}
	return strings.Join(quoted, ",")
}
