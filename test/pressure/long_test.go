//go:build stories

package pressure_test

import (
	"testing"
	"time"
)

// The long form of TestSlowReaderLosesNothing: clients that read at 16 MB/s, and clients that pause for 6 s.
func TestSlowReadersLoseNothing(t *testing.T) {
	for _, at := range []pace{{name: "16 MB/s", rate: 16 << 20}, {name: "a pause of 6 s", pause: 6 * time.Second}} {
		t.Run(at.name, func(t *testing.T) {
			for _, way := range []string{"stdio", "bridge", "http"} {
				t.Run(way, func(t *testing.T) {
					t.Parallel()
					checkSlowAnswers(t, way, at, 150)
					checkSlowLogs(t, way, at, 3000)
				})
			}
		})
	}
}
