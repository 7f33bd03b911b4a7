package kernel

import "context"

// The history of documents: copies that the kernel keeps below /history.

// HistoryItem is one copy of a document.
type HistoryItem struct {
	Title    string `json:"title"`
	Path     string `json:"path"` // "/history/<time>-<op>/<notebook>/…/<id>.sy"
	Op       string `json:"op"`   // update, delete, …
	Notebook ID     `json:"notebook"`
}

// HistoryContent is what a copy holds.
type HistoryContent struct {
	ID      ID     `json:"rootID"`     // of the document; empty where there is no such copy
	Content string `json:"content"`    // in the editor's form, unless Large
	Large   bool   `json:"isLargeDoc"` // Content is plain text
}

// historyOf is how the copies of one document are looked for.
func historyOf(doc ID) map[string]any {
	return map[string]any{"query": doc, "type": 3, "op": "all", "notebook": "%"}
}

// HistoryTimes returns when copies of a document were made, newest first: seconds, as text. A
// copy is found about two seconds after it was made.
func (c *Client) HistoryTimes(ctx context.Context, doc ID) ([]string, error) {
	var out struct{ Histories []string }
	err := c.call(ctx, "/api/history/searchHistory", readData, historyOf(doc), &out)
	return out.Histories, err
}

// HistoryItems lists the copies of a document that were made at a time of [Client.HistoryTimes].
func (c *Client) HistoryItems(ctx context.Context, doc ID, created string) ([]HistoryItem, error) {
	body := historyOf(doc)
	body["created"] = created
	var out struct{ Items []HistoryItem }
	err := c.call(ctx, "/api/history/getHistoryItems", readData, body, &out)
	return out.Items, err
}

// HistoryContent reads a copy; one that does not exist is empty.
func (c *Client) HistoryContent(ctx context.Context, path string) (HistoryContent, error) {
	var out HistoryContent
	err := c.call(ctx, "/api/history/getDocHistoryContent", readData, map[string]any{"historyPath": path, "k": "", "highlight": false}, &out)
	return out, err
}

// KeepHistory makes a copy of a document as it is.
func (c *Client) KeepHistory(ctx context.Context, doc ID) error {
	return c.call(ctx, "/api/history/createDocHistory", write, map[string]any{"id": doc}, nil)
}

// RollbackHistory puts a copy in the place of its document. A copy that equals the document makes
// the kernel delete the document's file and answer code 0: compare before.
func (c *Client) RollbackHistory(ctx context.Context, notebook ID, path string) error {
	return c.call(ctx, "/api/history/rollbackDocHistory", write, map[string]any{"notebook": notebook, "historyPath": path}, nil)
}
