package upstream_test

import (
	"testing"

	"go.uber.org/goleak"

	"collie/internal/mcp/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.RunIfChild()
	goleak.VerifyTestMain(m)
}
