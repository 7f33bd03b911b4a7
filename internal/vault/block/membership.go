package block

import (
	"html"
	"maps"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Attributes of a block that is a row of databases. The first is stored and lists their ids with commas; the second is
// only shown, and names them as HTML.
const (
	databaseIDs = "custom-avs"
	shownNames  = "av-names"
)

// shownAttributes returns the attributes of a block as they are read: with the names of the databases it is a row of.
func shownAttributes(tx *workspace.Tx, b *tree.Block, names databaseNames) map[string]string {
	attrs := maps.Clone(b.Attrs)
	var links []string
	for id := range strings.SplitSeq(attrs[databaseIDs], ",") {
		if name, found := names.of(tx, id); found {
			links = append(links, `<span data-av-id="`+id+`" data-popover-url="/api/av/getMirrorDatabaseBlocks" class="popover__block">`+
				html.EscapeString(name)+"</span>")
		}
	}
	if len(links) > 0 {
		attrs[shownNames] = strings.Join(links, ", ")
	}
	return attrs
}

// databaseNames are the names of databases that were asked for before, by id; "" of one that is not there.
type databaseNames map[string]string

// of returns the name of a database.
func (n databaseNames) of(tx *workspace.Tx, id string) (name string, found bool) {
	name, known := n[id]
	if !known && tree.ValidID(id) {
		if data := tx.ReadFile(siyuanapi.DatabasePath(id)); data != nil {
			if name = gjson.GetBytes(data, "name").String(); name == "" {
				name = "Untitled"
			}
		}
		n[id] = name
	}
	return name, name != ""
}
