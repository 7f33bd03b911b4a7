//go:build !race

package promptguard_test

import (
	"testing"
	"time"

	"collie/internal/pipeline/promptguard"
)

// maxRatio is how many times as long as a loop over the bytes of a text a scan of it may take. It takes about 90 times as long (1 ms
// where the loop takes 11 µs). One whose time does not grow linearly with the text would exceed the limit by far.
const maxRatio = 300

// TestScanIsQuick compares the fastest of 50 scans of 16 KiB with the fastest of 50 loops over the bytes.
func TestScanIsQuick(t *testing.T) {
	for name, text := range map[string]string{"page": harmlessPage(t), "code": goSource(t)} {
		fastest := func(f func()) time.Duration {
			least := time.Hour
			for range 50 {
				begun := time.Now()
				f()
				least = min(least, time.Since(begun))
			}
			return least
		}
		scan, floor := fastest(func() { promptguard.Scan(text) }), fastest(func() { sink += countTags(text) })
		t.Logf("%s: %v, which is %.0f times %v", name, scan, float64(scan)/float64(floor), floor)
		if scan > maxRatio*floor {
			t.Errorf("%s: to scan 16 KiB takes %v, and to read them %v; expected at most %d times as long", name, scan, floor, maxRatio)
		}
	}
}

// sink keeps the compiler from removing the measured code.
var sink int
