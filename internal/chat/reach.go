package chat

import (
	"context"

	"collie/internal/store"
)

// Part names what belongs to a session.
type Part string

// The parts of sessions, and a session itself.
const (
	PartSession    Part = "session"
	PartMessage    Part = "message"
	PartTurn       Part = "turn"
	PartAttachment Part = "attachment"
)

// owners selects the sessions that a part belongs to.
var owners = map[Part]string{
	PartSession:    "SELECT ?",
	PartMessage:    "SELECT session FROM message WHERE id = ?",
	PartTurn:       "SELECT session FROM turn WHERE id = ?",
	PartAttachment: "SELECT session FROM attachment WHERE sha256 = ?",
}

// hasProfile is true of the rows of session that have the profile in the next parameter of a statement.
const hasProfile = "coalesce(json_extract(session.config, '$.profile'), '') = ?"

// orNull returns a value for a statement.
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
