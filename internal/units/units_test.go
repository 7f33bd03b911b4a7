package units_test

import (
	"testing"
	"time"

	"collie/internal/units"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{"30s": 30 * time.Second, "1.5h": 90 * time.Minute, "30d": 720 * time.Hour, "0": 0, "0s": 0} {
		if got, err := units.Duration(in); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "30", "1.5", "-1s", "d", "-1d", "9999999999d", "1 s", "0x10", "Inf"} {
		if got, err := units.Duration(in); err == nil {
			t.Errorf("%q is %v, want an error", in, got)
		}
	}
	for in, want := range map[string]int64{"4096": 4096, "16MiB": 16 << 20, "16 MiB": 16 << 20, "2KB": 2000, "1GiB": 1 << 30, "7B": 7} {
		if got, err := units.Size(in); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "MiB", "-1", "1.5MiB", "1TB", "9223372036GiB", "1MiB2"} {
		if got, err := units.Size(in); err == nil {
			t.Errorf("%q is %v, want an error", in, got)
		}
	}
}

func TestTextsReadBack(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{"10m": 10 * time.Minute, "24h": 24 * time.Hour, "1h30m": 90 * time.Minute, "1m30s": 90 * time.Second, "500ms": 500 * time.Millisecond, "0s": 0} {
		text := units.DurationText(d)
		if back, err := units.Duration(text); text != want || err != nil || back != d {
			t.Errorf("%v is written %q, want %q, and reads back as %v, %v", d, text, want, back, err)
		}
	}
	for want, n := range map[string]int64{"16MiB": 16 << 20, "1025B": 1025, "2KiB": 2048, "3GiB": 3 << 30, "0B": 0} {
		text := units.SizeText(n)
		if back, err := units.Size(text); text != want || err != nil || back != n {
			t.Errorf("%d is written %q, want %q, and reads back as %d, %v", n, text, want, back, err)
		}
	}
}

func TestDurationWords(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"10 minutes": 10 * time.Minute, "1 minute": time.Minute, "90 seconds": 90 * time.Second, "24 hours": 24 * time.Hour, "1 hour": time.Hour, "500ms": 500 * time.Millisecond, "0s": 0,
	} {
		if got := units.DurationWords(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
