package vault

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// rounds is how often processes are killed.
var rounds = flag.Int("rounds", someRounds, "how often to kill a process that writes")

func TestMain(m *testing.M) {
	if file := os.Getenv(victimFile); file != "" {
		os.Exit(work(os.Getenv(victimJob), file)) // this process is the one to be killed
	}
	goleak.VerifyTestMain(m)
}
