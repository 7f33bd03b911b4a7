package upstream_test

import (
	"testing"

	"go.uber.org/goleak"

	"collie/internal/mcp/mcptest"
)

// TestMain runs this binary as a fakemcp if it was started as one, else the tests, and fails if a goroutine is left
// after them.
func TestMain(m *testing.M) {
	mcptest.RunIfChild()
	goleak.VerifyTestMain(m)
}
