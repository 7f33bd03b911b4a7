package chat

import (
	"context"

	"collie/internal/store"
)

// This file tells to which profile a session belongs, or a message, turn or file of it. A client that may use one profile
// only is shown no others.

// IDKind says what an id belongs to: a session, or something in one.
type IDKind string

// The values of IDKind.
const (
	IDOfSession    IDKind = "session"
	IDOfMessage    IDKind = "message"
	IDOfTurn       IDKind = "turn"
	IDOfAttachment IDKind = "attachment"
)

// ownerQueries are queries for the ids of the sessions that something belongs to, by what it is. Their parameter is its id.
var ownerQueries = map[IDKind]string{
	IDOfSession:    "SELECT ?",
	IDOfMessage:    "SELECT session FROM message WHERE id = ?",
	IDOfTurn:       "SELECT session FROM turn WHERE id = ?",
	IDOfAttachment: "SELECT session FROM attachment WHERE sha256 = ?",
}

// hasProfile is an SQL condition: the row of session has the profile that a parameter of the statement holds. It ends with
// the ? of the parameter, which a number may follow.
const hasProfile = "coalesce(json_extract(session.config, '$.profile'), '') = ?"

// orNull returns the text as a value for an SQL statement, NULL for nil.
func orNull(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// InProfile returns nil if what has this id belongs to a session with this profile, and an error of kind NotFound if it does not
// exist or belongs to others alone.
func (s *Service) InProfile(ctx context.Context, profile string, what IDKind, id string) error {
	return s.store.Read(ctx, func(tx *store.Tx) error {
		if _, there := tx.Number("SELECT 1 FROM session WHERE "+hasProfile+" AND id IN ("+ownerQueries[what]+")", profile, id); !there && tx.Err() == nil {
			return notFoundError("get", string(what), id)
		}
		return tx.Err()
	})
}
