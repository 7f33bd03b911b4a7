package vault

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"collie/test/await"
)

// rounds is how often processes are killed; `make crash` kills 500 times.
var rounds = flag.Int("rounds", await.Fewer(20), "how often to kill a process that writes")

func TestMain(m *testing.M) {
	if file := os.Getenv(victimFile); file != "" {
		os.Exit(runJob(os.Getenv(victimJob), file)) // this process is the one to be killed
	}
	if file := os.Getenv(usageFile); file != "" {
		os.Exit(runAndMeasure(file)) // this process runs a program and measures it
	}
	goleak.VerifyTestMain(m)
}

// usageFile is an environment variable that makes the test binary run a program and write its resource usage into the
// file with this name.
const usageFile = "COLLIE_TEST_USAGE"

// runAndMeasure runs the program in the arguments, and writes its resource usage as JSON into file.
func runAndMeasure(file string) int {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if err == nil {
		var text []byte
		if text, err = json.Marshal(cmd.ProcessState.SysUsage()); err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
