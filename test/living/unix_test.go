package living_test

import (
	"runtime"
	"testing"
)

func onUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links of files are other ones there")
	}
}
