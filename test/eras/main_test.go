package eras_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// together is how many tests run at once: they wait for servers far more than they compute.
const together = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", together); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
