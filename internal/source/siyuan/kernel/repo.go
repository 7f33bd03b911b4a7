package kernel

import "context"

// The data repository: snapshots of the whole workspace, some with a tag. Without a key all of it
// is an error of code [CodeNoRepoKey].

// Snapshot is one state of the workspace.
type Snapshot struct {
	ID      string `json:"id"`
	Memo    string `json:"memo"`
	Created int64  `json:"created"` // milliseconds
	Tag     string `json:"tag"`     // in lists of tagged ones
}

// SnapshotFile is a file of a snapshot.
type SnapshotFile struct {
	ID    string `json:"fileID"`
	Title string `json:"title"`
	Path  string `json:"path"` // below /data: "/<notebook>/…/<id>.sy"
}

// SnapshotDiff is how two snapshots differ.
type SnapshotDiff struct {
	OnlyLeft  []SnapshotFile `json:"removesRight"`
	OnlyRight []SnapshotFile `json:"addsLeft"`
	// Changed files, as the right snapshot has them.
	ChangedRight []SnapshotFile `json:"updatesRight"`
}

// SnapshotContent is what a document holds in a snapshot.
type SnapshotContent struct {
	Title   string `json:"title"`
	Content string `json:"content"`       // in the editor's form, unless Text
	Text    bool   `json:"displayInText"` // Content is plain text
}

// Snapshots lists the snapshots, newest first, by pages from 1.
func (c *Client) Snapshots(ctx context.Context, page int) ([]Snapshot, error) {
	var out struct{ Snapshots []Snapshot }
	err := c.call(ctx, "/api/repo/getRepoSnapshots", readData, map[string]any{"page": page}, &out)
	return out.Snapshots, err
}

// TaggedSnapshots lists the snapshots that have a tag, one entry a tag.
func (c *Client) TaggedSnapshots(ctx context.Context) ([]Snapshot, error) {
	var out struct{ Snapshots []Snapshot }
	err := c.call(ctx, "/api/repo/getRepoTagSnapshots", readData, nil, &out)
	return out.Snapshots, err
}

// CreateSnapshot makes a snapshot; memo must not be empty. Where nothing has changed since the
// last one there is no new one.
func (c *Client) CreateSnapshot(ctx context.Context, memo string) error {
	return c.call(ctx, "/api/repo/createSnapshot", write, map[string]any{"memo": memo}, nil)
}

// TagSnapshot gives a snapshot a tag. A tag of that name moves without a word.
func (c *Client) TagSnapshot(ctx context.Context, id, tag string) error {
	return c.call(ctx, "/api/repo/tagSnapshot", write, map[string]any{"id": id, "name": tag}, nil)
}

// DiffSnapshots compares two snapshots.
func (c *Client) DiffSnapshots(ctx context.Context, left, right string) (SnapshotDiff, error) {
	var out SnapshotDiff
	err := c.call(ctx, "/api/repo/diffRepoSnapshots", readData, map[string]any{"left": left, "right": right}, &out)
	return out, err
}

// SnapshotContent reads a document of a snapshot by the id of its file.
func (c *Client) SnapshotContent(ctx context.Context, file string) (SnapshotContent, error) {
	var out SnapshotContent
	err := c.call(ctx, "/api/repo/openRepoSnapshotFile", readData, map[string]any{"id": file}, &out)
	return out, err
}

// RollbackSnapshotFile puts a file of a snapshot in the place where it was.
func (c *Client) RollbackSnapshotFile(ctx context.Context, file string) error {
	return c.call(ctx, "/api/repo/rollbackRepoSnapshotFile", write, map[string]any{"id": file}, nil)
}
