package mcp

import (
	"net/http/httptest"
	"testing"
)

// Code that still holds the caller of a request after its answer may ask whether the client reads.
func TestExchangeIsNotConnectedAfterItsAnswer(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", nil)
	e := &exchange{w: httptest.NewRecorder(), r: r}
	if !e.isConnected() {
		t.Error("not connected while its connection is open")
	}
	e.finish(202, outgoing{})
	if e.isConnected() {
		t.Error("connected after its answer")
	}
}
