package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"collie/internal/lazyregexp"
)

// retryLimit is the longest wait that is taken seriously.
const retryLimit = 7 * 24 * time.Hour

// retryPhrase matches a wait in the message or the details, where some providers put it.
var retryPhrase = lazyregexp.New(`"retryDelay"\s*:\s*"([0-9.]+s)"|try again in ((?:[0-9.]+(?:ms|h|m|s))+)|retry in ([0-9.]+s)`)

// retryAfter returns how long a provider asks to wait, in any of the known forms, the longest if there are several. It
// is 0 if the provider does not say, or says something absurd.
func retryAfter(h http.Header, words string, now time.Time) (wait time.Duration) {
	consider := func(d time.Duration) {
		if d > wait && d <= retryLimit {
			wait = d
		}
	}
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		consider(secondsToWait(ms / 1000))
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			consider(secondsToWait(s))
		} else if t, err := http.ParseTime(v); err == nil {
			consider(t.Sub(now))
		}
	}
	for _, found := range retryPhrase.FindAllStringSubmatch(words, -1) {
		d, _ := time.ParseDuration(found[1] + found[2] + found[3])
		consider(d)
	}
	if wait > 0 {
		return wait
	}
	// Failing that, each limit that is used up says when it resets.
	for name := range h {
		left, ok := remainingHeader(strings.ToLower(name))
		if n, err := strconv.ParseFloat(h.Get(left), 64); !ok || err == nil && n > 0 {
			continue
		}
		consider(parseReset(h.Get(name), now))
	}
	return wait
}

// remainingHeader returns the header with what is left of the limit whose reset time header holds.
func remainingHeader(header string) (string, bool) {
	switch {
	case strings.HasPrefix(header, "x-ratelimit-reset"):
		return strings.Replace(header, "reset", "remaining", 1), true
	case strings.HasPrefix(header, "anthropic-ratelimit-") && strings.HasSuffix(header, "-reset"):
		return strings.TrimSuffix(header, "reset") + "remaining", true
	}
	return "", false
}

// parseReset parses when a limit resets: a time, a duration, seconds, or a Unix time in seconds or milliseconds.
func parseReset(v string, now time.Time) time.Duration {
	if t, err := time.Parse(time.RFC3339, v); err == nil {
		return t.Sub(now)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return d
	}
	n, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil:
		return 0
	case n > 1e11: // as seconds, the year 5138: so these are milliseconds
		return time.UnixMilli(int64(n)).Sub(now)
	case n > 1e8: // as a wait, three years: so it is a time
		return time.Unix(int64(n), 0).Sub(now)
	}
	return secondsToWait(n)
}

// secondsToWait converts s to a duration; 0 if it is not positive or over retryLimit.
func secondsToWait(s float64) time.Duration {
	if !(s > 0) || s > retryLimit.Seconds() {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}
