package living_test

import (
	"runtime"
	"testing"
)

// skipOnWindows skips the test on Windows, where modes and links of files are different.
func skipOnWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links of files are other ones there")
	}
}
