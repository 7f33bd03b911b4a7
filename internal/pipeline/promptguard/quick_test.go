//go:build !race

package promptguard_test

import (
	"testing"
	"time"

	"collie/internal/pipeline/promptguard"
)

// TestScanIsQuick compares the fastest of 50 scans of 16 KiB with the fastest of 50 loops over the bytes, and allows 300 times as
// long. Where the loop takes 11 µs, a scan of 90 times as long takes 1 ms. A scan that does not grow linearly would exceed the limit
// by far.
func TestScanIsQuick(t *testing.T) {
	for name, text := range map[string]string{"page": page(t), "code": code(t)} {
		best := func(f func()) time.Duration {
			least := time.Hour
			for range 50 {
				begun := time.Now()
				f()
				least = min(least, time.Since(begun))
			}
			return least
		}
		scan, floor := best(func() { promptguard.Scan(text) }), best(func() { sink += bytesOf(text) })
		t.Logf("%s: %v, which is %.0f times %v", name, scan, float64(scan)/float64(floor), floor)
		if scan > 300*floor {
			t.Errorf("%s: to look at 16 KiB takes %v, and to read them %v; expected at most 300 times as long", name, scan, floor)
		}
	}
}

// sink keeps the compiler from removing the measured code.
var sink int
