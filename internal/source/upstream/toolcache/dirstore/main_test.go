package dirstore_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		writeForever(dir)
		return
	}
	goleak.VerifyTestMain(m)
}
