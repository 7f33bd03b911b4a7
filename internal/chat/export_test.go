package chat

import "encoding/json"

// Kinds of events and parts, for tests that read streams and answers as clients do.
const (
	EventReset   = eventReset
	EventSession = eventSession
	EventTurn    = eventTurn
	PartSteer    = partSteer
)

// TurnEvent is the body of an event of a turn.
type TurnEvent struct {
	V       int             `json:"v"`
	Seq     int64           `json:"seq"`
	Turn    string          `json:"turnId"`
	Session string          `json:"sessionId"`
	TS      int64           `json:"ts"`
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
}
