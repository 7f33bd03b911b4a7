package kernel

import "context"

// This file has the endpoints for searches.

// The methods of the full text search.
const (
	MethodKeyword = iota // words that must all occur
	MethodSyntax         // the syntax of SQLite's full text search
	MethodSQL            // a SELECT of rows of blocks
	MethodRegex
)

// Found is a block in search results. Content, Name, Alias, Memo and Tag are HTML, with <mark> around the searched
// text.
type Found struct {
	ID       ID      `json:"id"`
	Notebook ID      `json:"box"`
	Root     ID      `json:"rootID"`
	Parent   ID      `json:"parentID"`
	Path     string  `json:"path"`
	HPath    string  `json:"hPath"`
	Type     string  `json:"type"` // NodeParagraph, …
	SubType  string  `json:"subType"`
	Content  string  `json:"content"`
	Markdown string  `json:"markdown"`
	Name     string  `json:"name"`
	Alias    string  `json:"alias"`
	Memo     string  `json:"memo"`
	Tag      string  `json:"tag"`
	RefText  string  `json:"refText"`  // text that a reference to it would show; only set by searchRefBlock
	Children []Found `json:"children"` // of a document, if hits are grouped
}

// FoundPage is one page of search results, with the counts of all pages.
type FoundPage struct {
	Blocks    []Found `json:"blocks"`
	DocMode   bool    `json:"docMode"` // the documents of the blocks follow them, uncounted
	Matched   int     `json:"matchedBlockCount"`
	Documents int     `json:"matchedRootCount"`
	Pages     int     `json:"pageCount"`
}

// FullText is a full text search. The zero value finds nothing.
type FullText struct {
	Query    string          `json:"query"`
	Method   int             `json:"method"`
	Types    map[string]bool `json:"types,omitempty"` // nil: the kernel's choice; finds nothing if none is true
	Paths    []string        `json:"paths,omitempty"` // "<notebook>" or "<notebook>/<path>.sy"; other scopes do not exist
	GroupBy  int             `json:"groupBy"`         // 1 groups hits below their documents
	OrderBy  int             `json:"orderBy"`         // 0 type, 1 and 2 created, 3 and 4 updated, 5 and 6 content, 7 relevance
	Page     int             `json:"page"`            // from 1
	PageSize int             `json:"pageSize"`
}

// FullText searches blocks. A query that the kernel cannot parse has no hits and is not an error.
func (c *Client) FullText(ctx context.Context, q FullText) (FoundPage, error) {
	return callFor[FoundPage](ctx, c, "/api/search/fullTextSearchBlock", readIndexData, q)
}

// RefSearch is a search for blocks to refer to from the block ID in the document Root. All fields are sent, or the
// kernel panics.
type RefSearch struct {
	ID             ID     `json:"id"`
	Root           ID     `json:"rootID"`
	Keyword        string `json:"k"`
	BeforeLen      int    `json:"beforeLen"` // characters kept before a match
	SquareBrackets bool   `json:"isSquareBrackets"`
	Database       bool   `json:"isDatabase"`
	ReqID          int    `json:"reqId"`
}

// SearchRefs finds blocks to refer to. Their HPath begins with the name of the notebook.
func (c *Client) SearchRefs(ctx context.Context, q RefSearch) ([]Found, error) {
	return callFor[[]Found](ctx, c, "/api/search/searchRefBlock", readIndexData.withMember("blocks"), q)
}

// InvalidRefs lists the blocks that refer to missing ones; page counts from 1.
func (c *Client) InvalidRefs(ctx context.Context, page, size int) (FoundPage, error) {
	return callFor[FoundPage](ctx, c, "/api/search/listInvalidBlockRefs", readIndexData, map[string]any{"page": page, "pageSize": size})
}

// Replacing is a replacement in blocks. If no entry of Types is true, nothing changes.
type Replacing struct {
	Find    string          `json:"k"`
	Replace string          `json:"r"`
	IDs     []ID            `json:"ids"` // blocks; of a document only the title
	Method  int             `json:"method"`
	Types   map[string]bool `json:"replaceTypes"`
}

// FindReplace replaces at once and cannot be undone. Missing blocks and blocks without a match are not errors.
func (c *Client) FindReplace(ctx context.Context, r Replacing) error {
	if r.IDs == nil {
		r.IDs = []ID{}
	}
	return c.call(ctx, "/api/search/findReplace", write, r, nil)
}

// AssetHit is an asset whose name matches. Name is HTML with <mark>, without the id.
type AssetHit struct {
	Name    string `json:"hName"`
	Path    string `json:"path"` // "assets/…"
	Updated int64  `json:"updated"`
}

// SearchAssets finds assets by name; exts, such as ".png", restrict the search.
func (c *Client) SearchAssets(ctx context.Context, keyword string, exts []string) ([]AssetHit, error) {
	body := map[string]any{"k": keyword}
	if len(exts) > 0 {
		body["exts"] = exts
	}
	return callFor[[]AssetHit](ctx, c, "/api/search/searchAsset", read, body)
}

// AssetContent is the matching part of an asset's text. Content is HTML with <mark>.
type AssetContent struct {
	ID      string `json:"id"` // of the entry in the index
	Name    string `json:"name"`
	Ext     string `json:"ext"`
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	HSize   string `json:"hSize"`
	Updated int64  `json:"updated"`
	Content string `json:"content"`
}

// AssetContentPage is one page of texts of assets, with the counts of all pages.
type AssetContentPage struct {
	Contents []AssetContent `json:"assetContents"`
	Matched  int            `json:"matchedAssetCount"`
	Pages    int            `json:"pageCount"`
}

// SearchAssetContents finds words in the texts of assets; types, such as ".txt", restrict the search, nil means all.
// page counts from 1; the kernel decides the size of a page.
func (c *Client) SearchAssetContents(ctx context.Context, query string, types map[string]bool, page int) (AssetContentPage, error) {
	body := map[string]any{"query": query, "page": page}
	if types != nil {
		body["types"] = types
	}
	return callFor[AssetContentPage](ctx, c, "/api/search/fullTextSearchAssetContent", readData, body)
}

// AssetContent returns one entry of the index with the words of query marked; nil if there is none.
func (c *Client) AssetContent(ctx context.Context, id, query string, method int) (*AssetContent, error) {
	return callFor[*AssetContent](ctx, c, "/api/search/getAssetContent", readData.withMember("assetContent"), map[string]any{"id": id, "query": query, "queryMethod": method})
}
