package bridge

import (
	"log/slog"

	"collie/internal/mcp"
)

// output writes messages to the client. A client that does not read holds its writers, and with
// them the exchanges that bring more.
type output struct {
	*mcp.Output
	log *slog.Logger
}

// line writes one message and does not keep or change raw. That it could not is known by the
// end of the relay.
func (o output) line(raw []byte) {
	if err := o.Write(raw); err != nil {
		o.log.Debug("message not written", "error", err)
	}
}
