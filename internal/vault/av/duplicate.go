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
	db := s.ensure(req.Str("avID"))
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

// depart adapts a relation of a copied database. A relation to the database itself now points to the copy. A relation
// with a back column in another database loses it, because that column belongs to the original.
func (c *column) adaptToCopy(old, id string) {
	how := c.Key.at("relation")
	switch {
	case how == nil:
	case how.str("avID") == old:
		how["avID"] = id
	case how.flag("isTwoWay"):
		how["isTwoWay"], how["backKeyID"] = false, ""
	}
}
