package agent_test

import (
	"os"
	"testing"

	"collie/internal/agent/acp/acptest"
)

// TestMain runs the tests or, where a test has started this program as the agent of another program, plays that agent.
func TestMain(m *testing.M) {
	if acptest.Is() {
		os.Exit(acptest.Main())
	}
	os.Exit(m.Run())
}
