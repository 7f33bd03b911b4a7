package siyuan_test

import (
	"testing"

	"collie/internal/source/siyuan"
)

// TestStartMakesLittle bounds what New allocates, since every command that uses notes waits for it. It does not run
// beside other tests, whose allocations would count.
func TestStartMakesLittle(t *testing.T) { //nolint:paralleltest // see above
	const most = 9000 // a little more than a source needs now
	made := testing.AllocsPerRun(5, func() { siyuan.New(siyuan.Options{}).Close() })
	if made > most {
		t.Errorf("a source makes %.0f objects when it starts, expected at most %d", made, most)
	}
}
