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

// Attributes of a block that is a row in databases. databaseIDs is stored and has their ids, separated by commas.
// shownNames is added when attributes are read, and has their names as HTML.
const (
	databaseIDs = "custom-avs"
	shownNames  = "av-names"
)

// shownAttributes returns the attributes of a block for an answer: with the names of the databases that it is a row in.
func shownAttributes(tx *workspace.Tx, b *tree.Block, names databaseNames) map[string]string {
	attrs := maps.Clone(b.Attrs)
	var links []string
	for id := range strings.SplitSeq(attrs[databaseIDs], ",") {
		if name, exists := names.nameOf(tx, id); exists {
			links = append(links, `<span data-av-id="`+id+`" data-popover-url="/api/av/getMirrorDatabaseBlocks" class="popover__block">`+
				html.EscapeString(name)+"</span>")
		}
	}
	if len(links) > 0 {
		attrs[shownNames] = strings.Join(links, ", ")
	}
	return attrs
}

// databaseNames caches the names of databases by id; "" for one that does not exist.
type databaseNames map[string]string

// nameOf returns the name of a database; exists is false if there is no such database.
func (n databaseNames) nameOf(tx *workspace.Tx, id string) (name string, exists bool) {
	name, ok := n[id]
	if !ok && tree.ValidID(id) {
		if data := tx.ReadFile(siyuanapi.DatabasePath(id)); data != nil {
			if name = gjson.GetBytes(data, "name").String(); name == "" {
				name = "Untitled"
			}
		}
		n[id] = name
	}
	return name, name != ""
}
