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
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	line := startLineClient(t, t.Context(), nil, 0)
	line.initialize()
	for name, request := range map[string]func() *scriptedService{
		"legacy_http": func() *scriptedService {
			s.exchange("POST", rpcRequest(1, "late", "{}"), "Mcp-Session-Id", s.openSession("2025-11-25"))
			return s.service
		},
		"modern_http": func() *scriptedService {
			s.exchange("POST", rpcRequest(1, "late", "{"+modernMeta(allCapabilities)+"}"), modernHeaders("late")...)
			return s.service
		},
		"legacy_stream": func() *scriptedService {
			line.writeLine("%s", rpcRequest(1, "late", "{}"))
			line.next()
			return line.service
		},
		"modern_stream": func() *scriptedService {
			line.writeLine("%s", rpcRequest(2, "late", "{"+modernMeta(allCapabilities)+"}"))
			line.next()
			return line.service
		},
	} {
		d := request()
		d.gate <- struct{}{}
		if err := <-d.ended; !errors.Is(err, mcp.ErrNoAsking) {
			t.Errorf("%s: %v", name, err)
		}
	}
	line.closeInputAndWait()
}
