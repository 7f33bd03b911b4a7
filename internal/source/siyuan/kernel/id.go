package kernel

import "collie/internal/siyuanapi"

// ID names a block, a document, a notebook, a database, a row or a column.
type ID = siyuanapi.ID

// NewID makes an id of this moment.
func NewID() ID { return siyuanapi.NewID() }
