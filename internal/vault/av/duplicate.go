package av

import (
	"fmt"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// duplicateAttributeViewBlock copies a database. The caller makes the block that shows the copy. Blocks that are rows of
// both keep to the one they were first in.
func duplicateAttributeViewBlock(tx *workspace.Tx, req api.Request) api.Reply {
	s := newDatabases(tx)
	db := s.mustDatabase(req.Str("avID"))
	delete(s.open, db.id) // from now on it is the copy
	old, id := db.id, tx.NewID()
	db.id = id
	db.name = strings.TrimSpace(fmt.Sprintf("%s (Duplicated %s)", db.name, time.Now().Format(time.DateTime)))
	for _, c := range db.columns {
		c.adaptToCopy(old, id)
	}
	s.add(db)
	s.save()
	return api.OK(object{"avID": id, "blockID": tx.NewID()})
}

// adaptToCopy adapts a relation of a copied database. A relation to the database itself now points to the copy. A
// relation with a back column in another database loses it, because that column belongs to the original.
func (c *column) adaptToCopy(old, id string) {
	relation := c.Key.at("relation")
	switch {
	case relation == nil:
	case relation.str("avID") == old:
		relation["avID"] = id
	case relation.flag("isTwoWay"):
		relation["isTwoWay"], relation["backKeyID"] = false, ""
	}
}
