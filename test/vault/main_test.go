package vault

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(victimFile); file != "" {
		os.Exit(work(os.Getenv(victimJob), file)) // this process is the one to be killed
	}
	goleak.VerifyTestMain(m)
}
