package supervise

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"collie/internal/source/upstream/entry"
)

// anyPolicy draws restart settings.
var anyPolicy = rapid.Custom(func(t *rapid.T) entry.Restart {
	base := time.Duration(rapid.Int64Range(1, int64(10*time.Second)).Draw(t, "base"))
	return entry.Restart{
		Max: rapid.IntRange(1, 10).Draw(t, "max"), Base: base,
		Cap:    base * time.Duration(rapid.Int64Range(1, 1000).Draw(t, "cap")),
		Window: time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(t, "window")),
	}
})

// Delays rise to the cap and never above it, whatever the random number.
func TestDelaysRiseToTheCap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy.Draw(t, "policy")
		var h history
		now, last := time.Unix(1e9, 0), time.Duration(0)
		for i := range 40 {
			chance := rapid.Float64Range(0, 0.999).Draw(t, "chance")
			next, _ := h.failed(p, now, chance)
			d, full := next.Sub(now), min(p.Cap, p.Base<<min(i, 20))
			if i <= 20 && (d < full/2 || d > full) || d > p.Cap {
				t.Fatalf("failure %d waits %v, want between %v and %v, cap %v", i+1, d, full/2, full, p.Cap)
			}
			if full >= 2*last && last > 0 && d < last && full/2 > last {
				t.Fatalf("failure %d waits %v, less than the %v before", i+1, d, last)
			}
			last, now = d, next
		}
		if last < p.Cap/2 {
			t.Fatalf("after 40 failures it waits %v, want at least half of the cap %v", last, p.Cap)
		}
	})
}

// The breaker opens when the last Max failures are within the window. It stays open until the server works: a failed
// trial does not close it.
func TestBreakerOpensWithinTheWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy.Draw(t, "policy")
		var h history
		var times []time.Time
		want := false
		now := time.Unix(1e9, 0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(p.Window)).Draw(t, "later")))
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				h.clear()
				times, want = nil, false
			case 1:
				h.started(now)
				now = now.Add(wellAfter)
				times, want = nil, false // by the time it fails it has been ready for a minute
				fallthrough
			default:
				times = append(times, now)
				_, open := h.failed(p, now, 0.5)
				recent := 0
				for _, at := range times {
					if now.Sub(at) <= p.Window {
						recent++
					}
				}
				if want = want || recent >= p.Max; open != want {
					t.Fatalf("open is %v with %d failures in %v, at most %d allowed", open, recent, p.Window, p.Max)
				}
			}
		}
	})
}

// Servers with the same history do not restart together more often than by chance.
func TestEqualHistoriesDoNotRetryTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var a, b history
		p, now := entry.Restart{Max: 5, Window: time.Minute, Base: time.Second, Cap: time.Minute}, time.Unix(1e9, 0)
		x := rapid.Float64Range(0, 0.999).Draw(t, "x")
		y := rapid.Float64Range(0, 0.999).Draw(t, "y")
		first, _ := a.failed(p, now, x)
		second, _ := b.failed(p, now, y)
		if first.Equal(second) != (int64(x*float64(p.Base/2)) == int64(y*float64(p.Base/2))) {
			t.Fatalf("chances %v and %v retry at %v and %v", x, y, first, second)
		}
	})
}

// An answered call, or a minute of being ready, makes earlier failures forgotten.
func TestAWellServerStartsAnew(t *testing.T) {
	t.Parallel()
	p := entry.Restart{Max: 2, Window: time.Hour, Base: time.Second, Cap: time.Hour}
	now := time.Unix(1e9, 0)
	var h history
	h.failed(p, now, 0)
	h.clear()
	if next, open := h.failed(p, now, 0); open || next.Sub(now) != p.Base/2 {
		t.Errorf("after an answer: %v, open %v", next.Sub(now), open)
	}
	h.started(now)
	if _, open := h.failed(p, now.Add(wellAfter-1), 0); !open {
		t.Error("a server that was ready for less than a minute is forgiven")
	}
	h.started(now)
	if _, open := h.failed(p, now.Add(wellAfter), 0); open {
		t.Error("a server that was ready for a minute is not forgiven")
	}
}

// Starts that failed for these reasons, or with these HTTP statuses, are not retried.
func TestPermanentReasons(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"command_not_found", "permission_denied", "config_invalid", "var_unset", "unsupported_protocol", "auth_required"} {
		if !isPermanent(reason, 0) {
			t.Errorf("%s is tried again by itself", reason)
		}
	}
	for status, want := range map[int]bool{0: false, 400: true, 401: false, 403: true, 404: true, 405: true, 408: false, 410: true, 429: false, 500: false, 503: false} {
		if isPermanent("http_4xx", status) != want {
			t.Errorf("HTTP %d: permanent is %v, want %v", status, !want, want)
		}
	}
}
