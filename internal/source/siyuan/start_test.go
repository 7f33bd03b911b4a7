package siyuan_test

import (
	"testing"

	"collie/internal/source/siyuan"
)

// TestStartMakesLittle bounds what the source makes before its first use: each command that touches notes waits for it, and
// it was a fifth of all that such a command computes. It does not run beside other tests, whose objects would count.
func TestStartMakesLittle(t *testing.T) { //nolint:paralleltest // see above
	made := testing.AllocsPerRun(5, func() { siyuan.New(siyuan.Options{}).Close() })
	if made > 9000 {
		t.Errorf("a source makes %.0f objects when it starts, expected at most 9000", made)
	}
}
