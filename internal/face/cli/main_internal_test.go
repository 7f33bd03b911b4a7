package cli

import (
	"testing"

	"go.uber.org/goleak"

	"collie/test/await"
)

// TestMain fails if goroutines are still running after all tests of the package.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onceWithoutRace skips a test that only reads the sources or a profile, and takes twenty times as long under the race
// detector. make test also runs this package without it.
func onceWithoutRace(t *testing.T) {
	t.Helper()
	if await.Race {
		t.Skip("runs without the race detector")
	}
}
