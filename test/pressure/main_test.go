package pressure_test

import (
	"os"
	"testing"

	"collie/test/gateway"
)

func TestMain(m *testing.M) { os.Exit(gateway.BuildAndRun(m)) }
