package kernel

import (
	"crypto/rand"
	"time"

	"collie/internal/lazyregexp"
)

// ID names a block, a document, a notebook, a database, a row or a column: 14 digits of local
// time, a dash, 7 of [0-9a-z].
type ID string

var idPattern = lazyregexp.New(`^[0-9]{14}-[0-9a-z]{7}$`)

// Valid reports whether id has the form of an id. Nothing else may be put into SQL.
func (id ID) Valid() bool { return idPattern.MatchString(string(id)) }

// NewID makes an id of this moment, so that what is created is known even if the answer is lost.
func NewID() ID {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	var b [7]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return ID(time.Now().Format("20060102150405") + "-" + string(b[:]))
}
