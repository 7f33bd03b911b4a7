package agent_test

import (
	"os"
	"testing"

	"collie/internal/agent/acp/acptest"
)

func TestMain(m *testing.M) {
	if acptest.Is() {
		os.Exit(acptest.Main())
	}
	os.Exit(m.Run())
}
