package kernel

import (
	"context"
	"strings"
)

// Document is a document as listDocsByPath lists it.
type Document struct {
	ID           ID     `json:"id"`
	Path         string `json:"path"` // storage path, "/…/<id>.sy"
	Name         string `json:"name"` // title
	Icon         string `json:"icon"`
	Sort         int    `json:"sort"`
	SubFileCount int    `json:"subFileCount"` // documents right below it
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

// Documents lists all visible documents right below a storage path, "/" for those at the top of
// a notebook, in the order that the interface shows. A path that does not exist has none; a
// notebook that does not exist or is closed is an error.
func (c *Client) Documents(ctx context.Context, notebook ID, path string) ([]Document, error) {
	return c.documents(ctx, map[string]any{"notebook": notebook, "path": path, "maxListCount": 0})
}

// SortedDocuments is Documents in an order of the caller's choice.
func (c *Client) SortedDocuments(ctx context.Context, notebook ID, path string, by SortMode) ([]Document, error) {
	return c.documents(ctx, map[string]any{"notebook": notebook, "path": path, "maxListCount": 0, "sort": by})
}

func (c *Client) documents(ctx context.Context, body map[string]any) ([]Document, error) {
	var out struct{ Files []Document }
	err := c.call(ctx, "/api/filetree/listDocsByPath", readData, body, &out)
	return out.Files, err
}

// CreateDocument makes a document with an id of the caller's choice at a human path of a
// notebook. Missing parents are made too, a path that exists gets a second document, and an id
// that is taken is an error.
func (c *Client) CreateDocument(ctx context.Context, notebook ID, hpath, markdown string, id ID) (ID, error) {
	if strings.Contains(hpath[:max(0, strings.LastIndex(hpath, "/"))], joiner) {
		return c.createBelow(ctx, notebook, hpath, markdown, id)
	}
	var out ID
	err := c.call(ctx, "/api/filetree/createDocWithMd", writeData, map[string]any{
		"notebook": notebook, "path": hpath, "markdown": markdown, "id": id,
	}, &out)
	return out, err
}

// CreateDocumentAt makes a document at a storage path of a notebook, whose last part is its id. The document above it
// must be there, and the id must not be taken. Unlike [Client.CreateDocument] it looks for nothing by its title, and so
// needs no index to be up to date.
func (c *Client) CreateDocumentAt(ctx context.Context, notebook ID, path, title, markdown string) error {
	return c.call(ctx, "/api/filetree/createDoc", writeData, map[string]any{
		"notebook": notebook, "path": path, "title": title, "md": markdown,
	}, nil)
}

// RenameDocument gives a document another title. The kernel removes "/" from it, and makes an
// empty one "Untitled".
func (c *Client) RenameDocument(ctx context.Context, id ID, title string) error {
	return c.call(ctx, "/api/filetree/renameDocByID", write, map[string]any{"id": id, "title": title}, nil)
}

// RemoveDocument removes a document with all documents below it.
func (c *Client) RemoveDocument(ctx context.Context, id ID) error {
	return c.call(ctx, "/api/filetree/removeDocByID", writeLate, map[string]any{"id": id}, nil)
}

// MoveDocuments moves documents below another document or to the top of a notebook. Moving one
// into itself or below itself does nothing and is not an error.
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

// DuplicateDocument copies a document, without those below it, beside itself.
func (c *Client) DuplicateDocument(ctx context.Context, id ID) (Duplicate, error) {
	var out Duplicate
	err := c.call(ctx, "/api/filetree/duplicateDoc", writeData, map[string]any{"id": id}, &out)
	return out, err
}

// HeadingToDocument makes a heading and what lies under it a document of the heading's id, below
// the document at a storage path of a notebook, "/" for its top. previous is the storage path
// of the document that it is put after; empty is the kernel's choice.
func (c *Client) HeadingToDocument(ctx context.Context, heading, notebook ID, path, previous string) error {
	body := map[string]any{"srcHeadingID": heading, "targetNoteBook": notebook, "targetPath": path}
	if previous != "" {
		body["previousPath"] = previous
	}
	return c.call(ctx, "/api/filetree/heading2Doc", write, body, nil)
}

// MergedFrom is where a document was that has become a heading.
type MergedFrom struct {
	Notebook ID     `json:"srcTreeBox" about:"notebook that the document was in"`
	Path     string `json:"srcTreePath" about:"storage path that it had"`
}

// DocumentToHeading puts a document as a heading after or before a block of another document;
// the document goes away. target must never be a document: the kernel destroys its file then.
func (c *Client) DocumentToHeading(ctx context.Context, document, target ID, after bool) (MergedFrom, error) {
	var out MergedFrom
	err := c.call(ctx, "/api/filetree/doc2Heading", writeData, map[string]any{
		"srcID": document, "targetID": target, "after": after,
	}, &out)
	return out, err
}

// ChangeSort sets the custom order of documents that have the same parent, by storage paths.
func (c *Client) ChangeSort(ctx context.Context, notebook ID, paths []string) error {
	return c.call(ctx, "/api/filetree/changeSort", write, map[string]any{"notebook": notebook, "paths": paths}, nil)
}

// SetDocSortMode sets the order of the documents below one document. Kernels before 3.8.1 lack
// it: an error of kind unsupported_by_kernel.
func (c *Client) SetDocSortMode(ctx context.Context, id ID, mode SortMode) error {
	return c.call(ctx, "/api/filetree/setDocSortMode", write, map[string]any{"id": id, "sortMode": mode}, nil)
}
