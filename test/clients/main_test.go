//go:build stories

package clients_test

import (
	"os"
	"testing"

	"collie/test/gateway"
)

// TestMain builds the programs that the tests run, runs the tests, and removes the programs.
func TestMain(m *testing.M) { os.Exit(gateway.BuildAndRun(m)) }
