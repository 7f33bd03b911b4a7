package chat

import (
	"context"

	"collie/internal/store"
)

// This file tells to which profile a session belongs, or a message, turn or file of it. A client that may use one profile
// only is shown no others.

// Part says what an id names: a session, or something that belongs to one.
type Part string

// The values of Part.
const (
	PartSession    Part = "session"
	PartMessage    Part = "message"
	PartTurn       Part = "turn"
	PartAttachment Part = "attachment"
)

// owners are queries for the ids of the sessions that a part belongs to. Their parameter is the id of the part.
var owners = map[Part]string{
	PartSession:    "SELECT ?",
	PartMessage:    "SELECT session FROM message WHERE id = ?",
	PartTurn:       "SELECT session FROM turn WHERE id = ?",
	PartAttachment: "SELECT session FROM attachment WHERE sha256 = ?",
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

// InProfile returns nil if a part belongs to a session with this profile, and an error of kind NotFound if it does not
// exist or belongs to others alone.
func (s *Service) InProfile(ctx context.Context, profile string, what Part, id string) error {
	return s.store.Read(ctx, func(tx *store.Tx) error {
		if _, there := tx.Number("SELECT 1 FROM session WHERE "+hasProfile+" AND id IN ("+owners[what]+")", profile, id); !there && tx.Err() == nil {
			return notFound("get", string(what), id)
		}
		return tx.Err()
	})
}
