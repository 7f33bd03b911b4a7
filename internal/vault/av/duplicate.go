package av

import (
	"fmt"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// duplicateAttributeViewBlock copies a database. The caller creates the block that shows the copy. Blocks that are rows
// of the copy are listed as rows of the original only.
func duplicateAttributeViewBlock(tx *workspace.Tx, req api.Request) api.Reply {
	s := newDatabases(tx)
	db := s.mustDatabase(req.Str("avID"))
	delete(s.open, db.id) // from now on it is the copy
	oldID, id := db.id, tx.NewID()
	db.id = id
	db.name = strings.TrimSpace(fmt.Sprintf("%s (Duplicated %s)", db.name, time.Now().Format(time.DateTime)))
	for _, c := range db.columns {
		c.adaptToCopy(oldID, id)
	}
	s.add(db)
	s.save()
	return api.OK(object{"avID": id, "blockID": tx.NewID()})
}

// adaptToCopy adapts a relation column of a copied database. A relation to the database itself now leads to the copy. A
// two-way relation becomes an ordinary one, since its back column belongs to the original.
func (c *column) adaptToCopy(oldID, id string) {
	relation := c.Key.at("relation")
	switch {
	case relation == nil:
	case relation.str("avID") == oldID:
		relation["avID"] = id
	case relation.flag("isTwoWay"):
		relation["isTwoWay"], relation["backKeyID"] = false, ""
	}
}
