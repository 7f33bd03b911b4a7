package living_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"collie/test/gateway"
)

// parallelTests is how many tests run at once: they wait for processes far more than they compute.
const parallelTests = "8"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerFile); path != "" {
		os.Exit(writeEntries(path, os.Getenv(writerName)))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", parallelTests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(gateway.BuildAndRun(m))
}
