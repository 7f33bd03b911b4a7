package chat

// What a stream of events and a stored answer hold, for tests that read them as clients do.
const (
	EventReset   = eventReset
	EventSession = eventSession
	EventTurn    = eventTurn
	PartSteer    = partSteer
)

// TurnEvent is the body of an event of a turn.
type TurnEvent = turnBody
