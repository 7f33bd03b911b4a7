package main

import (
	"testing"
	"time"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for version, want := range map[string]string{
		"v1.2.3":             "1.2.3",
		"v1.2.3-4-gabc":      "1.2.3+4.gabc",
		"1.2.3-4-gabc-dirty": "1.2.3+4.gabc.dirty",
		"f00dcafe":           "0.0.0+20260102030405.f00dcafe",
		"f00dcafe-dirty":     "0.0.0+20260102030405.f00dcafe.dirty",
		"dev":                "0.0.0+20260102030405.dev",
	} {
		if got := number(version, at); got != want {
			t.Errorf("number(%q) = %q, want %q", version, got, want)
		}
	}
	// Of two commits without a tag, the later one must have the higher version, whatever their hashes are.
	if older, newer := number("ffff", at), number("0000", at.Add(time.Second)); older >= newer {
		t.Errorf("%s is not before %s", older, newer)
	}
}
