package living_test

import (
	"runtime"
	"testing"
)

// onUnix skips the test on Windows, where modes and links of files are different.
func onUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links of files are other ones there")
	}
}
