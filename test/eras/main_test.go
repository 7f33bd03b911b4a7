package eras_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// parallelTests is how many tests run at once. It does not depend on the number of processors, because the tests mostly wait
// for servers.
const parallelTests = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallelTests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
