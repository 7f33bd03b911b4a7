// Package siyuanapi has the vocabulary of SiYuan's API that two packages share: the client of a kernel, and the vault,
// which answers like a kernel. It consists of ids, the folder of databases, and the types of columns and cells. It was
// taken from recordings of a kernel.
package siyuanapi

import (
	"crypto/rand"
	"time"

	"collie/internal/lazyregexp"
)

// ID identifies a block, a document, a notebook, a database, a row or a column: 14 digits of local time, a dash, and
// 7 characters of [0-9a-z].
type ID string

var idPattern = lazyregexp.New(`^[0-9]{14}-[0-9a-z]{7}$`)

// Valid reports whether id has the form of an id. Others must not be put into SQL.
func (id ID) Valid() bool { return len(id) == 22 && idPattern.MatchString(string(id)) }

// IDDigits are the characters of the second part of an id.
const IDDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

// NewID returns a new id with the current time. If the id is chosen before a request, it is known even if the answer is
// lost. The caller has to check that the id is free.
func NewID() ID {
	var b [7]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = IDDigits[int(b[i])%len(IDDigits)]
	}
	return ID(time.Now().Format("20060102150405") + "-" + string(b[:]))
}

// BuiltInDeck is the id of the deck for cards that are made in the editor.
const BuiltInDeck = "20230218211946-2kw8jgx"
