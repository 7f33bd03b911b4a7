package av

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
)

// addableTypes are the types a column can be added with. There is one primary column, which no other can join.
var addableTypes = []string{
	siyuanapi.ColumnText, siyuanapi.ColumnNumber, siyuanapi.ColumnDate, siyuanapi.ColumnSelect, siyuanapi.ColumnMSelect, siyuanapi.ColumnURL, siyuanapi.ColumnEmail, siyuanapi.ColumnPhone, siyuanapi.ColumnMAsset, siyuanapi.ColumnTemplate,
	siyuanapi.ColumnCreated, siyuanapi.ColumnUpdated, siyuanapi.ColumnCheckbox, siyuanapi.ColumnRelation, siyuanapi.ColumnRollup, siyuanapi.ColumnLineNumber,
}

// column is a column with the cells that somebody touched.
type column struct {
	Key   object
	cells []*cell
	// byRow finds cells, nil until it is asked for.
	byRow map[string]*cell
}

// cell is a stored cell. Its JSON is read only when its value is asked for.
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

// parseColumn reads a column of a database's file, nil for one without an id.
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

// write writes a column as the file of its database holds it.
func (c *column) write(out *bytes.Buffer) {
	out.WriteString(`{"key":`)
	out.Write(api.MustJSON(c.Key))
	for i, held := range c.cells {
		if i == 0 {
			out.WriteString(`,"values":[`)
		} else {
			out.WriteByte(',')
		}
		out.WriteString(held.raw)
	}
	if len(c.cells) > 0 {
		out.WriteByte(']')
	}
	out.WriteByte('}')
}

// get returns the value of a cell. One that cannot be read, from a file somebody else wrote, has no content.
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

// cell returns the cell of a row, nil when nobody has touched it.
func (c *column) cell(row string) *cell {
	if c.byRow == nil {
		c.byRow = make(map[string]*cell, len(c.cells))
		for _, held := range c.cells {
			if _, taken := c.byRow[held.row]; !taken {
				c.byRow[held.row] = held
			}
		}
	}
	return c.byRow[row]
}

// stored returns the value of a row's cell, nil when nobody has touched it.
func (c *column) stored(row string) *value {
	held := c.cell(row)
	if held == nil {
		return nil
	}
	return held.get()
}

// add puts the value of a new cell into the column.
func (c *column) add(v *value) {
	held := &cell{row: v.BlockID}
	held.set(v)
	c.cells, c.byRow = append(c.cells, held), nil
}

// dropCells removes the cells of rows.
func (c *column) dropCells(rows map[string]bool) {
	c.cells = slices.DeleteFunc(c.cells, func(held *cell) bool { return rows[held.row] })
	c.byRow = nil
}

// optionIndex returns the place of an option among those of the column, behind them all when it is not among them.
func (c *column) optionIndex(name string) int {
	options := c.Key.objects("options")
	if at := slices.IndexFunc(options, func(o object) bool { return o.str("name") == name }); at >= 0 {
		return at
	}
	return len(options)
}

// learnOptions adds the options of a value that the column does not have.
func (c *column) learnOptions(v *value) {
	if kind := c.kind(); kind != siyuanapi.ColumnSelect && kind != siyuanapi.ColumnMSelect {
		return
	}
	for _, chosen := range v.MSelect {
		if known := c.Key.objects("options"); c.optionIndex(chosen.Content) == len(known) {
			c.Key["options"] = append(c.Key.list("options"), object{"name": chosen.Content, "color": chosen.Color, "desc": ""})
		}
	}
}

// setOptions replaces the options. Known ones keep their place, as the recorded kernel has it.
func (c *column) setOptions(options []object) {
	wanted := map[string]object{}
	var ordered []any
	for _, o := range options {
		if o.str("name") != "" {
			wanted[o.str("name")] = object{"name": o.str("name"), "color": o.str("color"), "desc": o.str("desc")}
		}
	}
	for _, known := range c.Key.objects("options") {
		if o := wanted[known.str("name")]; o != nil {
			ordered = append(ordered, o)
			delete(wanted, known.str("name"))
		}
	}
	for _, o := range options {
		if fresh := wanted[o.str("name")]; fresh != nil {
			ordered = append(ordered, fresh)
			delete(wanted, o.str("name"))
		}
	}
	c.Key["options"] = ordered
}
