package kernel

import (
	"context"
	"encoding/json"
	"strings"

	"collie/internal/tool"
)

// This file has the endpoints for documents and their tree.

// Document is a document as listDocsByPath lists it.
type Document struct {
	ID           ID     `json:"id"`
	Path         string `json:"path"` // storage path, "/…/<id>.sy"
	Name         string `json:"name"` // title
	Icon         string `json:"icon"`
	Sort         int    `json:"sort"`
	SubFileCount int    `json:"subFileCount"` // number of child documents
}

// SortMode is an order of documents. The values are the kernel's.
type SortMode int

// Some of the orders.
const (
	// SortCustom is the order that [Client.ChangeSort] makes.
	SortCustom SortMode = 6
	// SortInherited is the order of the whole workspace; a notebook has it unless it has its own.
	SortInherited SortMode = 15
)

// Documents lists all visible documents directly below a storage path, "/" for the top of a notebook, in the order
// that the interface shows. A path that does not exist has none. A notebook that does not exist or is closed is an
// error.
func (c *Client) Documents(ctx context.Context, notebook ID, path string) ([]Document, error) {
	return c.documents(ctx, map[string]any{"notebook": notebook, "path": path, "maxListCount": 0})
}

// SortedDocuments is like Documents in the given order.
func (c *Client) SortedDocuments(ctx context.Context, notebook ID, path string, by SortMode) ([]Document, error) {
	return c.documents(ctx, map[string]any{"notebook": notebook, "path": path, "maxListCount": 0, "sort": by})
}

func (c *Client) documents(ctx context.Context, body map[string]any) ([]Document, error) {
	return callFor[[]Document](ctx, c, "/api/filetree/listDocsByPath", readData.withMember("files"), body)
}

// CreateDocument creates a document with the given id at a human path of a notebook. Missing parents are created too.
// If the path exists, it then has two documents. An id in use is an error.
func (c *Client) CreateDocument(ctx context.Context, notebook ID, hpath, markdown string, id ID) (ID, error) {
	if strings.Contains(hpath[:max(0, strings.LastIndex(hpath, "/"))], zeroWidthJoiner) {
		return c.createBelow(ctx, notebook, hpath, markdown, id)
	}
	return callFor[ID](ctx, c, "/api/filetree/createDocWithMd", writeData, map[string]any{
		"notebook": notebook, "path": hpath, "markdown": markdown, "id": id,
	})
}

// CreateDocumentAt creates a document at a storage path of a notebook, whose last part is its id. The document above
// it must exist, and the id must be free. Unlike [Client.CreateDocument] it looks up nothing by title, so no index
// has to be up to date.
func (c *Client) CreateDocumentAt(ctx context.Context, notebook ID, path, title, markdown string) error {
	return c.call(ctx, "/api/filetree/createDoc", writeData, map[string]any{
		"notebook": notebook, "path": path, "title": title, "md": markdown,
	}, nil)
}

// RenameDocument changes the title of a document. The kernel removes "/" from it, and replaces an empty one by
// "Untitled".
func (c *Client) RenameDocument(ctx context.Context, id ID, title string) error {
	return c.call(ctx, "/api/filetree/renameDocByID", write, map[string]any{"id": id, "title": title}, nil)
}

// RemoveDocument removes a document with all documents below it.
func (c *Client) RemoveDocument(ctx context.Context, id ID) error {
	return c.call(ctx, "/api/filetree/removeDocByID", writeLate, map[string]any{"id": id}, nil)
}

// MoveDocuments moves documents below another document or to the top of a notebook. Moving one into itself or below
// itself does nothing, without an error.
func (c *Client) MoveDocuments(ctx context.Context, from []ID, to ID) error {
	return c.call(ctx, "/api/filetree/moveDocsByID", write, map[string]any{"fromIDs": from, "toID": to}, nil)
}

// Duplicate is a copy of a document.
type Duplicate struct {
	ID       ID     `json:"id"`
	Notebook ID     `json:"notebook"`
	Path     string `json:"path"`
	HPath    string `json:"hPath"`
}

// DuplicateDocument copies a document, without its child documents, next to itself.
func (c *Client) DuplicateDocument(ctx context.Context, id ID) (Duplicate, error) {
	return callFor[Duplicate](ctx, c, "/api/filetree/duplicateDoc", writeData, map[string]any{"id": id})
}

// HeadingToDocument turns a heading and its section into a document with the heading's id, below the document at a
// storage path of a notebook, "/" for its top. It comes after the document with the storage path previous; if that is
// empty, the kernel chooses.
func (c *Client) HeadingToDocument(ctx context.Context, heading, notebook ID, path, previous string) error {
	body := map[string]any{"srcHeadingID": heading, "targetNoteBook": notebook, "targetPath": path}
	if previous != "" {
		body["previousPath"] = previous
	}
	return c.call(ctx, "/api/filetree/heading2Doc", write, body, nil)
}

// MergedFrom is the former place of a document that became a heading.
type MergedFrom struct {
	Notebook ID     `json:"srcTreeBox" about:"notebook that the document was in"`
	Path     string `json:"srcTreePath" about:"storage path that it had"`
}

// DocumentToHeading turns a document into a heading before or after a block of another document; the document is
// removed. target must never be a document: the kernel would destroy its file.
func (c *Client) DocumentToHeading(ctx context.Context, document, target ID, after bool) (MergedFrom, error) {
	return callFor[MergedFrom](ctx, c, "/api/filetree/doc2Heading", writeData, map[string]any{
		"srcID": document, "targetID": target, "after": after,
	})
}

// ChangeSort sets the custom order of documents with the same parent, given by storage paths.
func (c *Client) ChangeSort(ctx context.Context, notebook ID, paths []string) error {
	return c.call(ctx, "/api/filetree/changeSort", write, map[string]any{"notebook": notebook, "paths": paths}, nil)
}

// SetDocSortMode sets the order of a document's children. Kernels before 3.8.1 lack it: the error has kind
// unsupported_by_kernel.
func (c *Client) SetDocSortMode(ctx context.Context, id ID, mode SortMode) error {
	return c.call(ctx, "/api/filetree/setDocSortMode", write, map[string]any{"id": id, "sortMode": mode}, nil)
}

// Reread makes the kernel read a document and all below it, given by its storage path, from their files again. The
// kernel caches documents by notebook and path. A document that returns to a notebook therefore shows its old state:
// later changes are not shown, and are lost with the next write.
func (c *Client) Reread(ctx context.Context, notebook ID, path string) error {
	at := "/" + string(notebook) + path
	return c.call(ctx, "/api/filetree/upsertIndexes", write, map[string]any{
		"paths": []string{at, strings.TrimSuffix(at, ".sy") + "/"},
	}, nil)
}

// FoundDocument is a document found by a search of titles.
type FoundDocument struct {
	Notebook ID     `json:"box"`
	HPath    string `json:"hPath"` // begins with the notebook's name, without a leading slash
	Path     string `json:"path"`  // storage path; "/" means the notebook itself
	Icon     string `json:"boxIcon"`
}

// SearchDocuments finds documents in all open notebooks by words of their human paths. It reads the index, which is
// flushed first if this client has written. Hits may repeat.
func (c *Client) SearchDocuments(ctx context.Context, words string) ([]FoundDocument, error) {
	return callFor[[]FoundDocument](ctx, c, "/api/filetree/searchDocs", readIndexData, map[string]any{"k": words})
}

// DocumentHTML returns a document as the editor shows it: {content, blockCount, eof, …}. size bounds the blocks that
// are loaded.
func (c *Client) DocumentHTML(ctx context.Context, id ID, size int) (json.RawMessage, error) {
	return callFor[json.RawMessage](ctx, c, "/api/filetree/getDoc", readData, map[string]any{"id": id, "mode": 0, "size": size})
}

// DocumentInfo returns what the kernel knows about a block's document: {rootID, name, refCount, subFileCount, ial,
// …}.
func (c *Client) DocumentInfo(ctx context.Context, id ID) (json.RawMessage, error) {
	return callFor[json.RawMessage](ctx, c, "/api/block/getDocInfo", readData, map[string]any{"id": id})
}

// Outline returns the headings of a document as a tree; null if there are none. With preview it includes the
// document's title. Names are HTML.
func (c *Client) Outline(ctx context.Context, id ID, preview bool) (json.RawMessage, error) {
	return callFor[json.RawMessage](ctx, c, "/api/outline/getDocOutline", read, map[string]any{"id": id, "preview": preview})
}

// DailyNote returns today's note of a notebook, and creates it if need be. app names a window that is not to be
// refreshed; it may be empty.
func (c *Client) DailyNote(ctx context.Context, notebook ID, app string) (ID, error) {
	body := map[string]any{"notebook": notebook}
	if app != "" {
		body["app"] = app
	}
	return callFor[ID](ctx, c, "/api/filetree/createDailyNote", writeData.withMember("id"), body)
}

// zeroWidthJoiner (U+200D) joins several characters to one emoji. The kernel keeps it in titles but drops it from the
// human paths in requests, so it finds neither a document with it in the path, nor such a parent of a new document,
// which it then creates a second time.
const zeroWidthJoiner = "\u200d"

// indexedIDs returns the documents that have a human path by the index. The index may have one that is gone, so each
// is verified.
func (c *Client) indexedIDs(ctx context.Context, notebook ID, hpath string) ([]ID, error) {
	rows, err := SQL[struct{ ID ID }](ctx, c, "SELECT DISTINCT id FROM blocks WHERE type = 'd' AND box = "+Quote(string(notebook))+
		" AND hpath = "+Quote(hpath)+" ORDER BY id LIMIT 100")
	ids := make([]ID, 0, len(rows))
	for _, row := range rows {
		now, err := c.HPathByID(ctx, row.ID)
		if err != nil && tool.KindOf(err) != tool.NotFound {
			return nil, err
		}
		if now == hpath {
			ids = append(ids, row.ID)
		}
	}
	return ids, err
}

// createBelow creates a document at the top of a notebook and moves it below its parents, which it finds, or creates
// in the same way.
func (c *Client) createBelow(ctx context.Context, notebook ID, hpath, markdown string, id ID) (ID, error) {
	above, title := hpath[:strings.LastIndex(hpath, "/")], hpath[strings.LastIndex(hpath, "/"):]
	parents, err := c.IDsByHPath(ctx, notebook, above)
	if err == nil && len(parents) == 0 {
		var created ID
		created, err = c.CreateDocument(ctx, notebook, above, "", NewID())
		parents = []ID{created}
	}
	if err != nil {
		return "", err
	}
	if id, err = c.CreateDocument(ctx, notebook, title, markdown, id); err != nil {
		return id, err
	}
	return id, c.MoveDocuments(ctx, []ID{id}, parents[0])
}
