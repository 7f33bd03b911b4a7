package output

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if goroutines are still running after all tests of the package.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
