package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"collie/internal/siyuanapi"
	"collie/internal/tool"
)

// This file has the endpoints that read databases, and their types.

// Database is a database ("attribute view") as the kernel stores it.
type Database struct {
	ID      ID               `json:"id"`
	Name    string           `json:"name"`
	Columns []DatabaseColumn `json:"keyValues"` // in the order of their creation
	ViewID  ID               `json:"viewID"`    // the current view
	Views   []DatabaseView   `json:"views"`
	// Raw is the whole stored JSON.
	Raw json.RawMessage `json:"-"`
}

// DatabaseColumn is a column with the values that were set in it; untouched cells have none.
type DatabaseColumn struct {
	Column Column  `json:"key"`
	Values []Value `json:"values"`
}

// Column describes a column ("key").
type Column struct {
	ID           ID     `json:"id"`
	Name         string `json:"name"`
	Type         string `json:"type"` // text, number, date, select, mSelect, block, relation, …
	NumberFormat string `json:"numberFormat"`
	Template     string `json:"template"`
	Options      []struct {
		Name  string `json:"name"`
		Color string `json:"color"`
	} `json:"options"`
	Relation *struct {
		Database ID   `json:"avID"`
		TwoWay   bool `json:"isTwoWay"`
	} `json:"relation"`
	Rollup *struct {
		RelationColumn ID `json:"relationKeyID"`
		Column         ID `json:"keyID"` // of the related database
	} `json:"rollup"`
}

// DatabaseView is a view. Table has the columns of a table view in order.
type DatabaseView struct {
	ID    ID     `json:"id"`
	Name  string `json:"name"`
	Type  string `json:"type"` // table, gallery, kanban
	Table *struct {
		Columns []struct {
			ID ID `json:"id"`
		} `json:"columns"`
	} `json:"table"`
	Groups []struct {
		ID ID `json:"id"`
	} `json:"groups"`
}

// Value is the value of one cell. Type says which one of the other members is set.
type Value struct {
	ID        ID                  `json:"id"`
	ColumnID  ID                  `json:"keyID"`
	RowID     ID                  `json:"blockID"` // the row's id, though the kernel calls it blockID
	Type      string              `json:"type"`
	Detached  bool                `json:"isDetached"`
	Block     *BoundBlock         `json:"block"`
	Text      *siyuanapi.Content  `json:"text"`
	URL       *siyuanapi.Content  `json:"url"`
	Email     *siyuanapi.Content  `json:"email"`
	Phone     *siyuanapi.Content  `json:"phone"`
	Template  *siyuanapi.Content  `json:"template"`
	Number    *siyuanapi.Number   `json:"number"`
	Date      *siyuanapi.Date     `json:"date"`
	Created   *siyuanapi.Date     `json:"created"`
	Updated   *siyuanapi.Date     `json:"updated"`
	Checkbox  *siyuanapi.Checkbox `json:"checkbox"`
	Selection []siyuanapi.Option  `json:"mSelect"` // of select and mSelect
	Assets    []siyuanapi.Asset   `json:"mAsset"`
	Relation  *Relation           `json:"relation"`
	Rollup    *Rollup             `json:"rollup"`
}

// BoundBlock is the value of the primary column: a text of its own, or the block to which the row is bound.
type BoundBlock struct {
	ID      ID     `json:"id"` // empty if the row is detached
	Content string `json:"content"`
}

// Relation names rows of another database. Contents are their primary values, if the kernel has computed them.
type Relation struct {
	RowIDs   []ID    `json:"blockIDs"`
	Contents []Value `json:"contents"`
}

// Rollup is what was gathered from related rows.
type Rollup struct {
	Contents []Value `json:"contents"`
}

// Column returns a column by id, nil if there is none.
func (d *Database) Column(id ID) *DatabaseColumn {
	for i := range d.Columns {
		if d.Columns[i].Column.ID == id {
			return &d.Columns[i]
		}
	}
	return nil
}

// Primary returns the values of the primary column, one for each row.
func (d *Database) Primary() []Value {
	for i := range d.Columns {
		if d.Columns[i].Column.Type == siyuanapi.ColumnBlock {
			return d.Columns[i].Values
		}
	}
	return nil
}

// Value returns the value of a cell, nil if nobody has set it.
func (d *Database) Value(row, column ID) *Value {
	c := d.Column(column)
	if c == nil {
		return nil
	}
	for i := range c.Values {
		if c.Values[i].RowID == row {
			return &c.Values[i]
		}
	}
	return nil
}

// Database returns a database as it is stored. If it does not exist, the error has kind not_found; a database exists
// once it was rendered for the first time.
func (c *Client) Database(ctx context.Context, id ID) (*Database, error) {
	const endpoint = "/api/av/getAttributeView"
	raw, err := callFor[json.RawMessage](ctx, c, endpoint, readData.withMember("av"), map[string]any{"id": id})
	if err != nil {
		return nil, err
	}
	var d *Database
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, unexpectedDataError(endpoint, read, err)
	}
	if d == nil || d.ID != id {
		return nil, &tool.Error{Op: "ask SiYuan", Kind: tool.NotFound, Code: CodeDatabaseNotFound, Subject: string(id), Message: "there is no such database"}
	}
	d.Raw = raw
	return d, nil
}

// Rendering says what of a database is to be rendered. ID is required.
type Rendering struct {
	ID, Block, View ID
	Page, Size      int // Page counts from 1; 0 uses the kernel's defaults
	Query           string
	GroupPaging     map[ID]GroupPage // by group id
	Create          bool             // create the database if it does not exist
}

// GroupPage is a page of one group of a view.
type GroupPage struct {
	Page int `json:"page"`
	Size int `json:"pageSize"`
}

// RenderDatabase returns a database as one of its views shows it.
func (c *Client) RenderDatabase(ctx context.Context, r Rendering) (json.RawMessage, error) {
	body := map[string]any{"id": r.ID, "createIfNotExist": r.Create, "query": r.Query}
	for name, id := range map[string]ID{"blockID": r.Block, "viewID": r.View} {
		if id != "" {
			body[name] = id
		}
	}
	if r.Page > 0 {
		body["page"] = r.Page
	}
	if r.Size != 0 {
		body["pageSize"] = r.Size
	}
	if r.GroupPaging != nil {
		body["groupPaging"] = r.GroupPaging
	}
	return callFor[json.RawMessage](ctx, c, "/api/av/renderAttributeView", requestKind{write: r.Create, data: true}, body)
}

// DatabaseColumns returns the columns of a database in the kernel's form.
func (c *Client) DatabaseColumns(ctx context.Context, id ID) ([]json.RawMessage, error) {
	return callFor[[]json.RawMessage](ctx, c, "/api/av/getAttributeViewKeysByAvID", readData, map[string]any{"avID": id})
}

// FilterSort returns filters and sorts of the view that a database block shows. An empty group stands for no filter.
func (c *Client) FilterSort(ctx context.Context, id, block ID) (filters, sorts json.RawMessage, err error) {
	var out struct{ Filters, Sorts json.RawMessage }
	err = c.call(ctx, "/api/av/getAttributeViewFilterSort", readData, map[string]any{"id": id, "blockID": block}, &out)
	return out.Filters, out.Sorts, err
}

// DatabaseBlocks returns the blocks that show a database ("mirrors").
func (c *Client) DatabaseBlocks(ctx context.Context, id ID) ([]ID, error) {
	return callFor[[]ID](ctx, c, "/api/av/getMirrorDatabaseBlocks", read.withMember("refDefs.#.refID"), map[string]any{"avID": id})
}

// DatabaseHit is a search result: a database in one of its blocks, with its views as children.
type DatabaseHit struct {
	Database ID            `json:"avID"`
	Name     string        `json:"avName"`
	View     string        `json:"viewName"`
	ViewID   ID            `json:"viewID"`
	Layout   string        `json:"viewLayout"`
	Block    ID            `json:"blockID"`
	HPath    string        `json:"hPath"` // begins with the notebook's name
	Children []DatabaseHit `json:"children"`
}

// SearchDatabases finds databases by name, except those in excludes.
func (c *Client) SearchDatabases(ctx context.Context, keyword string, excludes []ID) ([]DatabaseHit, error) {
	body := map[string]any{"keyword": keyword}
	if len(excludes) > 0 {
		body["excludes"] = excludes
	}
	return callFor[[]DatabaseHit](ctx, c, "/api/av/searchAttributeView", readData.withMember("results"), body)
}

// PrimaryValues has the values of a primary column, the database's name and the blocks that show it.
type PrimaryValues struct {
	Blocks []ID   `json:"blockIDs"`
	Name   string `json:"name"`
	Rows   struct {
		Key    Column  `json:"key"`
		Values []Value `json:"values"`
	} `json:"rows"`
}

// PrimaryValues returns the rows of a database whose primary value contains a keyword, the last changed first.
func (c *Client) PrimaryValues(ctx context.Context, id ID, keyword string, page, size int) (PrimaryValues, error) {
	return callFor[PrimaryValues](ctx, c, "/api/av/getAttributeViewPrimaryKeyValues", readData, map[string]any{
		"id": id, "keyword": keyword, "page": page, "pageSize": size,
	})
}

// DuplicateDatabase copies a database. The caller must insert the block that shows the copy, under the returned id.
func (c *Client) DuplicateDatabase(ctx context.Context, id ID) (database, block ID, err error) {
	var out struct {
		Database ID `json:"avID"`
		Block    ID `json:"blockID"`
	}
	err = c.call(ctx, "/api/av/duplicateAttributeViewBlock", writeData, map[string]any{"avID": id}, &out)
	return out.Database, out.Block, err
}

// SpinDOM converts hand-written DOM to the form that the editor saves.
func (c *Client) SpinDOM(ctx context.Context, dom string) (string, error) {
	return callFor[string](ctx, c, "/api/lute/spinBlockDOM", readData.withMember("dom"), map[string]any{"dom": dom})
}

// DatabaseTexts calls yield for all texts in databases that contain "assets/", including databases in closed
// notebooks. some are the databases to read; nil means all. It makes one request for each.
func (c *Client) DatabaseTexts(ctx context.Context, some map[ID]bool, yield func(database ID, text string)) error {
	if some != nil && len(some) == 0 {
		return nil
	}
	files, err := c.ReadDir(ctx, siyuanapi.Databases)
	if tool.KindOf(err) == tool.NotFound { // the folder is created with the first database
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name, ".json")
		if !ok || f.IsDir || some != nil && !some[ID(name)] {
			continue
		}
		raw, err := c.ReadFile(ctx, siyuanapi.DatabasePath(name))
		if err != nil {
			return err
		}
		textsIn(raw, func(text string) { yield(ID(name), text) })
	}
	return nil
}

// DatabaseNotebooks returns, by database, the open notebooks in which a block shows it.
func (c *Client) DatabaseNotebooks(ctx context.Context, databases []ID) (map[ID][]ID, error) {
	out := map[ID][]ID{}
	for _, id := range databases {
		rows, err := SQL[AssetUse](ctx, c, "SELECT DISTINCT box FROM blocks WHERE type = 'av' AND instr(markdown, "+
			Quote(`data-av-id="`+string(id)+`"`)+") > 0 LIMIT 100000")
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[id] = append(out[id], row.Notebook)
		}
	}
	return out, nil
}

// textsIn calls yield for the strings in a JSON value that name assets; for invalid JSON, with all of it.
func textsIn(raw []byte, yield func(text string)) {
	if !json.Valid(raw) {
		yield(string(raw))
		return
	}
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		t, err := d.Token()
		if err != nil {
			return
		}
		if text, ok := t.(string); ok && strings.Contains(text, "assets/") {
			yield(text)
		}
	}
}
