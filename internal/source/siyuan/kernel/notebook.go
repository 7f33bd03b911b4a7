package kernel

import (
	"context"
	"encoding/json"
	"maps"
)

// This file has the endpoints for notebooks.

// Notebook is a notebook as lsNotebooks lists it.
type Notebook struct {
	ID                ID     `json:"id"`
	Name              string `json:"name"`
	Icon              string `json:"icon"`
	Sort              int    `json:"sort"`
	SortMode          int    `json:"sortMode"`
	Closed            bool   `json:"closed"`
	NewFlashcardCount int    `json:"newFlashcardCount"`
	DueFlashcardCount int    `json:"dueFlashcardCount"`
	FlashcardCount    int    `json:"flashcardCount"`
	Encrypted         bool   `json:"encrypted"`
	Unlocked          bool   `json:"unlocked"`
}

// FindNotebook returns the notebook with that id, nil if the list has none.
func FindNotebook(list []Notebook, id ID) *Notebook {
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

// Locked reports whether a notebook is encrypted and nobody has unlocked it.
func (n *Notebook) Locked() bool { return n.Encrypted && !n.Unlocked }

// Notebooks lists all notebooks, closed ones included. (With flashcard:true the kernel lists only
// those that have cards.)
func (c *Client) Notebooks(ctx context.Context) ([]Notebook, error) {
	return callFor[[]Notebook](ctx, c, "/api/notebook/lsNotebooks", readData.withMember("notebooks"), nil)
}

// CreateNotebook creates a notebook. Names may repeat. The kernel drops "/" from a name and replaces an empty one by
// "Untitled".
func (c *Client) CreateNotebook(ctx context.Context, name string) (Notebook, error) {
	return callFor[Notebook](ctx, c, "/api/notebook/createNotebook", writeData.withMember("notebook"), map[string]any{"name": name})
}

// OpenNotebook opens a notebook; the kernel indexes it in the background.
func (c *Client) OpenNotebook(ctx context.Context, id ID) error {
	return c.changeNotebook(ctx, "/api/notebook/openNotebook", id, nil)
}

// CloseNotebook closes a notebook; a missing one is not an error. Shortly after writes to the notebook it can crash
// the kernel, so flush first.
func (c *Client) CloseNotebook(ctx context.Context, id ID) error {
	return c.changeNotebook(ctx, "/api/notebook/closeNotebook", id, nil)
}

// RemoveNotebook removes a notebook with all its documents. Flush first, as for [Client.CloseNotebook].
func (c *Client) RemoveNotebook(ctx context.Context, id ID) error {
	return c.changeNotebook(ctx, "/api/notebook/removeNotebook", id, nil)
}

// RenameNotebook gives an open notebook another name.
func (c *Client) RenameNotebook(ctx context.Context, id ID, name string) error {
	return c.changeNotebook(ctx, "/api/notebook/renameNotebook", id, map[string]any{"name": name})
}

// SetNotebookIcon sets the icon of a notebook to a code point in hexadecimal, such as "1f4d4". The notebook must
// exist: for an unknown id the kernel creates a ghost notebook.
func (c *Client) SetNotebookIcon(ctx context.Context, id ID, icon string) error {
	return c.changeNotebook(ctx, "/api/notebook/setNotebookIcon", id, map[string]any{"icon": icon})
}

func (c *Client) changeNotebook(ctx context.Context, endpoint string, id ID, more map[string]any) error {
	body := map[string]any{"notebook": id}
	maps.Copy(body, more)
	return c.call(ctx, endpoint, write, body, nil)
}

// NotebookConf returns the configuration of a notebook in the kernel's form: {box, conf, name}.
func (c *Client) NotebookConf(ctx context.Context, id ID) (json.RawMessage, error) {
	return callFor[json.RawMessage](ctx, c, "/api/notebook/getNotebookConf", readData, map[string]any{"notebook": id})
}

// NotebookSortMode returns the order of documents in a notebook's configuration.
func (c *Client) NotebookSortMode(ctx context.Context, id ID) (SortMode, error) {
	return callFor[SortMode](ctx, c, "/api/notebook/getNotebookConf", readData.withMember("conf.sortMode"), map[string]any{"notebook": id})
}

// SetNotebookConf changes the members of a notebook's configuration that are in conf, and returns all of it. The
// notebook must exist: for an unknown id the kernel creates a ghost notebook.
func (c *Client) SetNotebookConf(ctx context.Context, id ID, conf map[string]any) (json.RawMessage, error) {
	return callFor[json.RawMessage](ctx, c, "/api/notebook/setNotebookConf", writeData, map[string]any{"notebook": id, "conf": conf})
}

// FlushNow is like [Client.Flush] even if this client has not written: others may have, before a notebook is closed or
// removed.
func (c *Client) FlushNow(ctx context.Context) error {
	c.dirty.Store(true)
	return c.Flush(ctx)
}
