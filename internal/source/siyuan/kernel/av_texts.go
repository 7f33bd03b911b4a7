package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"collie/internal/tool"
)

// databaseFolder is where the kernel keeps databases, a file each.
const databaseFolder = "/data/storage/av"

// DatabaseTexts hands over all texts of databases in which "assets/" stands, those of closed
// notebooks included. some are the databases to look into; nil is all. It costs a request for each.
func (c *Client) DatabaseTexts(ctx context.Context, some map[ID]bool, yield func(database ID, text string)) error {
	if some != nil && len(some) == 0 {
		return nil
	}
	files, err := c.ReadDir(ctx, databaseFolder)
	if tool.KindOf(err) == tool.Unknown { // the folder comes with the first database
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
		raw, err := c.ReadFile(ctx, databaseFolder+"/"+f.Name)
		if err != nil {
			return err
		}
		textsIn(raw, func(text string) { yield(ID(name), text) })
	}
	return nil
}

// DatabaseNotebooks are the open notebooks in which a block shows one of some databases, by database.
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

// textsIn hands over the texts of a JSON value that name assets; of what is not JSON, all of it.
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
