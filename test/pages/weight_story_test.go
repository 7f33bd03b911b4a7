//go:build stories && linux

package pages_test

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	maxFirstLoad   = 100_000 // bytes on the wire, without what a page or the puppy loads when it is first shown
	maxInteractive = 5 * 300 // milliseconds, five times the goal
)

// The first load is small, and the composer soon appears. The test does not run beside other stories, because other
// browsers would slow it down.
//
//nolint:paralleltest // see above
func TestFirstLoad(t *testing.T) {
	s := startStory(t)
	s.signIn()
	s.runBeforePages(`new MutationObserver(() => {
		if (window.interactive || !document.querySelector('.composer textarea')) return
		const files = performance.getEntries().filter(e => e.encodedBodySize && !new URL(e.name).pathname.startsWith('/api/'))
		window.interactive = { ms: performance.now(), bytes: files.reduce((n, e) => n + e.encodedBodySize, 0), files: files.length }
	}).observe(document, { subtree: true, childList: true })`)
	var took []float64
	for range 5 {
		s.perform(chromedp.Reload())
		s.awaitTrue(`window.interactive`)
		took = append(took, s.eval(`window.interactive.ms`).(float64))
		bytes, files := s.eval(`window.interactive.bytes`).(float64), s.eval(`window.interactive.files`).(float64)
		if files < 3 || bytes < 10_000 || bytes > maxFirstLoad {
			t.Errorf("the first load is %v bytes in %v files, expected at most %d", bytes, files, maxFirstLoad)
		}
	}
	slices.Sort(took)
	t.Logf("interactive after %.0f ms (median of 5), %v bytes", took[2], s.eval(`window.interactive.bytes`))
	if took[2] > maxInteractive {
		t.Errorf("the composer is there after %v ms, expected at most %d", took, maxInteractive)
	}
	s.wantCleanPage()
}
