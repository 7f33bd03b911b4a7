// Package units reads and writes durations and byte sizes as people write them in settings and flags. It
// refuses a bare number where the unit would be a guess.
package units

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ErrMissing is returned for a duration without a unit.
var ErrMissing = errors.New("write a unit: 30s, 500ms")

// Duration reads a length of time with a unit: the syntax of [time.ParseDuration], and whole days such as
// "30d". "0" needs no unit; any other bare number is refused, since programs disagree on its unit. Negative
// durations are refused.
func Duration(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil && s != "0" {
		return 0, ErrMissing
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 31)
		if err != nil || n > math.MaxInt64/uint64(24*time.Hour) {
			return 0, fmt.Errorf("%q is not a number of days", s)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a length of time; write one such as 30s, 500ms, 10m, 24h", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q is negative", s)
	}
	return d, nil
}

// Size reads a number of bytes with or without a unit: "16MiB", "500 KB", "4096".
func Size(s string) (int64, error) {
	number := strings.TrimRight(s, "KMGiB ")
	factor, ok := map[string]int64{
		"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}[strings.TrimSpace(s[len(number):])]
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("%q is not a size; write one such as 16MiB", s)
	}
	return n * factor, nil
}

// SizeText writes n bytes in the largest unit that is exact, as [Size] reads it: 16MiB.
func SizeText(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// DurationText writes d as [Duration] reads it, without the zero parts that [time.Duration] appends: 10m, not
// 10m0s.
func DurationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// DurationWords writes d as a sentence says it, in whole hours, minutes or seconds: 10 minutes. What is not a whole number of
// them is written as by [DurationText].
func DurationWords(d time.Duration) string {
	for _, u := range []struct {
		size      time.Duration
		one, many string
	}{{time.Hour, "1 hour", "%d hours"}, {time.Minute, "1 minute", "%d minutes"}, {time.Second, "1 second", "%d seconds"}} {
		switch {
		case d == u.size:
			return u.one
		case d > 0 && d%u.size == 0:
			return fmt.Sprintf(u.many, d/u.size)
		}
	}
	return DurationText(d)
}
