package kernel

import "context"

// This file has the endpoints for the history of documents, which are copies that the kernel keeps below /history, and
// for snapshots of the workspace.

// HistoryItem is one copy of a document.
type HistoryItem struct {
	Title    string `json:"title"`
	Path     string `json:"path"` // "/history/<time>-<op>/<notebook>/…/<id>.sy"
	Op       string `json:"op"`   // update, delete, …
	Notebook ID     `json:"notebook"`
}

// HistoryContent is the content of a copy.
type HistoryContent struct {
	ID      ID     `json:"rootID"`     // of the document; empty if there is no such copy
	Content string `json:"content"`    // in the editor's form, unless Large
	Large   bool   `json:"isLargeDoc"` // Content is plain text
}

// historyOf returns the search for copies of one document.
func historyOf(doc ID) map[string]any {
	return map[string]any{"query": doc, "type": 3, "op": "all", "notebook": "%"}
}

// HistoryTimes returns when copies of a document were made, in seconds as text, newest first. A copy can be found
// about two seconds after it was made.
func (c *Client) HistoryTimes(ctx context.Context, doc ID) ([]string, error) {
	return callFor[[]string](ctx, c, "/api/history/searchHistory", readData.withMember("histories"), historyOf(doc))
}

// HistoryItems lists the copies of a document made at one of the [Client.HistoryTimes].
func (c *Client) HistoryItems(ctx context.Context, doc ID, created string) ([]HistoryItem, error) {
	body := historyOf(doc)
	body["created"] = created
	return callFor[[]HistoryItem](ctx, c, "/api/history/getHistoryItems", readData.withMember("items"), body)
}

// HistoryContent reads a copy; a missing one is empty.
func (c *Client) HistoryContent(ctx context.Context, path string) (HistoryContent, error) {
	return callFor[HistoryContent](ctx, c, "/api/history/getDocHistoryContent", readData, map[string]any{"historyPath": path, "k": "", "highlight": false})
}

// KeepHistory makes a copy of the current state of a document.
func (c *Client) KeepHistory(ctx context.Context, doc ID) error {
	return c.call(ctx, "/api/history/createDocHistory", write, map[string]any{"id": doc}, nil)
}

// RollbackHistory replaces a document by a copy. If the copy equals the document, the kernel deletes the document's
// file and answers code 0, so compare them first.
func (c *Client) RollbackHistory(ctx context.Context, notebook ID, path string) error {
	return c.call(ctx, "/api/history/rollbackDocHistory", write, map[string]any{"notebook": notebook, "historyPath": path}, nil)
}

// The data repository has snapshots of the whole workspace, some of them tagged. Without a repository key all its
// calls fail with code "repo_key_missing".

// Snapshot is one state of the workspace.
type Snapshot struct {
	ID      string `json:"id"`
	Memo    string `json:"memo"`
	Created int64  `json:"created"` // milliseconds since 1970
	Tag     string `json:"tag"`     // only in lists of tagged snapshots
}

// SnapshotFile is a file of a snapshot.
type SnapshotFile struct {
	ID    string `json:"fileID"`
	Title string `json:"title"`
	Path  string `json:"path"` // below /data: "/<notebook>/…/<id>.sy"
}

// SnapshotDiff is the difference of two snapshots.
type SnapshotDiff struct {
	OnlyLeft  []SnapshotFile `json:"removesRight"`
	OnlyRight []SnapshotFile `json:"addsLeft"`
	// Changed files, in the version of the right snapshot.
	ChangedRight []SnapshotFile `json:"updatesRight"`
}

// SnapshotContent is the content of a document in a snapshot.
type SnapshotContent struct {
	Title   string `json:"title"`
	Content string `json:"content"`       // in the editor's form, unless Text
	Text    bool   `json:"displayInText"` // Content is plain text
}

// Snapshots returns a page of snapshots, newest first; page counts from 1.
func (c *Client) Snapshots(ctx context.Context, page int) ([]Snapshot, error) {
	return callFor[[]Snapshot](ctx, c, "/api/repo/getRepoSnapshots", readData.withMember("snapshots"), map[string]any{"page": page})
}

// TaggedSnapshots lists the snapshots with a tag, one entry for each tag.
func (c *Client) TaggedSnapshots(ctx context.Context) ([]Snapshot, error) {
	return callFor[[]Snapshot](ctx, c, "/api/repo/getRepoTagSnapshots", readData.withMember("snapshots"), nil)
}

// CreateSnapshot makes a snapshot; memo must not be empty. If nothing has changed since the last one, it makes none.
func (c *Client) CreateSnapshot(ctx context.Context, memo string) error {
	return c.call(ctx, "/api/repo/createSnapshot", write, map[string]any{"memo": memo}, nil)
}

// TagSnapshot tags a snapshot. An existing tag of that name moves silently.
func (c *Client) TagSnapshot(ctx context.Context, id, tag string) error {
	return c.call(ctx, "/api/repo/tagSnapshot", write, map[string]any{"id": id, "name": tag}, nil)
}

// DiffSnapshots compares two snapshots.
func (c *Client) DiffSnapshots(ctx context.Context, left, right string) (SnapshotDiff, error) {
	return callFor[SnapshotDiff](ctx, c, "/api/repo/diffRepoSnapshots", readData, map[string]any{"left": left, "right": right})
}

// SnapshotContent reads a document of a snapshot by the id of its file.
func (c *Client) SnapshotContent(ctx context.Context, file string) (SnapshotContent, error) {
	return callFor[SnapshotContent](ctx, c, "/api/repo/openRepoSnapshotFile", readData, map[string]any{"id": file})
}

// RollbackSnapshotFile restores a file of a snapshot to its place.
func (c *Client) RollbackSnapshotFile(ctx context.Context, file string) error {
	return c.call(ctx, "/api/repo/rollbackRepoSnapshotFile", write, map[string]any{"id": file}, nil)
}
