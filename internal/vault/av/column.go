package av

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
)

// This file has the columns of a database with their cells.

// addableTypes are the types of columns that can be added. There is exactly one primary column.
var addableTypes = []string{
	siyuanapi.ColumnText, siyuanapi.ColumnNumber, siyuanapi.ColumnDate, siyuanapi.ColumnSelect, siyuanapi.ColumnMSelect, siyuanapi.ColumnURL, siyuanapi.ColumnEmail, siyuanapi.ColumnPhone, siyuanapi.ColumnMAsset, siyuanapi.ColumnTemplate,
	siyuanapi.ColumnCreated, siyuanapi.ColumnUpdated, siyuanapi.ColumnCheckbox, siyuanapi.ColumnRelation, siyuanapi.ColumnRollup, siyuanapi.ColumnLineNumber,
}

// column is a column with its stored cells. A cell that nobody has touched is not stored.
type column struct {
	Key   object
	cells []*cell
	// byRow has the cells by row; nil until it is needed.
	byRow map[string]*cell
}

// cell is a stored cell. Its JSON is parsed when its value is first needed.
type cell struct {
	row   string
	raw   string
	value *value
}

func newColumn(id, name, kind, icon string) *column {
	return &column{Key: object{"id": id, "name": name, "type": kind, "icon": icon, "desc": "", "numberFormat": "", "template": ""}}
}

func (c *column) id() string   { return c.Key.str("id") }
func (c *column) kind() string { return c.Key.str("type") }
func (c *column) name() string { return c.Key.str("name") }

// parseColumn parses a column in the file of a database; nil if it has no id.
func parseColumn(from gjson.Result) *column {
	c := &column{Key: asObject(from.Get("key").Value())}
	if c.id() == "" {
		return nil
	}
	from.Get("values").ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			c.cells = append(c.cells, &cell{row: v.Get("blockID").String(), raw: v.Raw})
		}
		return true
	})
	return c
}

// write writes a column in the form of the database's file.
func (c *column) write(out *bytes.Buffer) {
	out.WriteString(`{"key":`)
	out.Write(api.MustJSON(c.Key))
	for i, rowCell := range c.cells {
		if i == 0 {
			out.WriteString(`,"values":[`)
		} else {
			out.WriteByte(',')
		}
		out.WriteString(rowCell.raw)
	}
	if len(c.cells) > 0 {
		out.WriteByte(']')
	}
	out.WriteByte('}')
}

// get returns the value of a cell. If its JSON cannot be parsed, since another program wrote the file, the value is
// empty.
func (c *cell) get() *value {
	if c.value == nil {
		var v value
		if json.Unmarshal([]byte(c.raw), &v) != nil {
			v = value{ID: gjson.Get(c.raw, "id").String(), KeyID: gjson.Get(c.raw, "keyID").String(), BlockID: c.row}
		}
		c.value = &v
	}
	return c.value
}

// set replaces the value of a cell.
func (c *cell) set(v *value) { c.value, c.raw = v, string(v.encode()) }

// block returns the block that a primary cell is bound to, "" for a detached one.
func (c *cell) block() string { return gjson.Get(c.raw, "block.id").Str }

// cell returns the stored cell of a row, nil if there is none.
func (c *column) cell(row string) *cell {
	if c.byRow == nil {
		c.byRow = make(map[string]*cell, len(c.cells))
		for _, rowCell := range c.cells {
			if _, exists := c.byRow[rowCell.row]; !exists {
				c.byRow[rowCell.row] = rowCell
			}
		}
	}
	return c.byRow[row]
}

// stored returns the stored value of a row's cell, nil if there is none.
func (c *column) stored(row string) *value {
	rowCell := c.cell(row)
	if rowCell == nil {
		return nil
	}
	return rowCell.get()
}

// add adds a cell for a value of another row.
func (c *column) add(v *value) {
	rowCell := &cell{row: v.BlockID}
	rowCell.set(v)
	c.cells, c.byRow = append(c.cells, rowCell), nil
}

// dropCells removes the cells of rows.
func (c *column) dropCells(rows map[string]bool) {
	c.cells = slices.DeleteFunc(c.cells, func(rowCell *cell) bool { return rows[rowCell.row] })
	c.byRow = nil
}

// optionIndex returns the index of an option in the column, or the number of options if it is not one of them.
func (c *column) optionIndex(name string) int {
	options := c.Key.objects("options")
	if at := slices.IndexFunc(options, func(o object) bool { return o.str("name") == name }); at >= 0 {
		return at
	}
	return len(options)
}

// learnOptions adds to the column those options of a value that it does not have.
func (c *column) learnOptions(v *value) {
	if kind := c.kind(); kind != siyuanapi.ColumnSelect && kind != siyuanapi.ColumnMSelect {
		return
	}
	for _, chosen := range v.MSelect {
		if options := c.Key.objects("options"); c.optionIndex(chosen.Content) == len(options) {
			c.Key["options"] = append(c.Key.list("options"), object{"name": chosen.Content, "color": chosen.Color, "desc": ""})
		}
	}
}

// setOptions replaces the options. Those that existed keep their order, as in SiYuan; new ones follow.
func (c *column) setOptions(options []object) {
	byName := map[string]object{}
	var ordered []any
	for _, o := range options {
		if o.str("name") != "" {
			byName[o.str("name")] = object{"name": o.str("name"), "color": o.str("color"), "desc": o.str("desc")}
		}
	}
	for _, existing := range c.Key.objects("options") {
		if o := byName[existing.str("name")]; o != nil {
			ordered = append(ordered, o)
			delete(byName, existing.str("name"))
		}
	}
	for _, o := range options {
		if option := byName[o.str("name")]; option != nil {
			ordered = append(ordered, option)
			delete(byName, o.str("name"))
		}
	}
	c.Key["options"] = ordered
}
