package home_test

import (
	"strings"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/tool"
)

// If a home is not writable, Claim fails before anything is started, with a hint.
func TestClaimOfAHomeThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	// Nobody can create folders there, not even root.
	release, err := home.Claim(config.Paths{State: "/sys/collie"})
	if err == nil {
		release()
		t.Fatal("it is claimed")
	}
	e, ok := err.(*tool.Error) //nolint:errorlint // Claim returns it as it is
	if !ok || e.Kind != tool.Unavailable || !strings.Contains(e.Hint, "--home") || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("got %v", err)
	}
}
