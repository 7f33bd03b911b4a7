package soak_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"collie/test/gateway"
)

var (
	span = flag.Duration("for", 24*time.Second, "how long the gateway lives")
	seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "what decides what happens")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(gateway.BuildAndRun(m))
}
