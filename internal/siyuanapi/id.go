// Package siyuanapi has the words that SiYuan's API is spoken in: ids, where databases lie, and what columns and cells
// of databases are. The client of a kernel and the vault, which answers like one, both take them from here; the
// recordings of a kernel say what they are.
package siyuanapi

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
func (id ID) Valid() bool { return len(id) == 22 && idPattern.MatchString(string(id)) }

// IDDigits are the characters that the second part of an id is made of.
const IDDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

// NewID makes an id of this moment, so that what is created is known even if the answer is lost. Whether it is taken is
// for the caller to see.
func NewID() ID {
	var b [7]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = IDDigits[int(b[i])%len(IDDigits)]
	}
	return ID(time.Now().Format("20060102150405") + "-" + string(b[:]))
}

// BuiltInDeck is the deck that cards made in the editor belong to.
const BuiltInDeck = "20230218211946-2kw8jgx"
