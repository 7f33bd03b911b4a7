package mcp_test

import (
	"errors"
	"testing"

	"collie/internal/mcp"
)

// A question that belongs to an already answered request reaches nobody. The Service gets an error at once,
// not only after the timeout.
func TestAskAfterTheAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t, mcp.HTTPServerOptions{})
	line := serveLine(t, t.Context(), nil, 0)
	line.initialize()
	for name, request := range map[string]func() *desk{
		"legacy_http": func() *desk {
			s.do("POST", rpc(1, "late", "{}"), "Mcp-Session-Id", s.open("2025-11-25"))
			return s.desk
		},
		"modern_http": func() *desk {
			s.do("POST", rpc(1, "late", "{"+meta(canAll)+"}"), modern("late")...)
			return s.desk
		},
		"legacy_stream": func() *desk {
			line.say("%s", rpc(1, "late", "{}"))
			line.next()
			return line.desk
		},
		"modern_stream": func() *desk {
			line.say("%s", rpc(2, "late", "{"+meta(canAll)+"}"))
			line.next()
			return line.desk
		},
	} {
		d := request()
		d.gate <- struct{}{}
		if err := <-d.ended; !errors.Is(err, mcp.ErrNoAsking) {
			t.Errorf("%s: %v", name, err)
		}
	}
	line.stop()
}
