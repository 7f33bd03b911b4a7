package toolcache

import (
	"encoding/json"
	"fmt"
	"time"
)

// The moments that can be: Collie is younger than the one, clocks differ by the other.
var earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

const ahead = 5 * time.Minute

// checkRecord looks at what single fields do not tell. With trustSeal it spares the hash of
// tools whose seal fits.
func checkRecord(r *record, now time.Time, trustSeal bool, report reporter) {
	checkTime(r.LastUpdated, now, report.at("lastUpdated"))
	checkTime(r.ValidatedAt, now, report.at("validatedAt"))
	if r.ToolsHash == "" {
		return
	}
	if r.whole = r.seal == sealTools(r.ToolsHash, r.Tools); r.whole && trustSeal {
		return
	}
	if sum, err := hashTools(r.Tools); err != nil || sum != r.ToolsHash {
		report.at("toolsHash").fail(ruleTampered, "the tools are not those that were stored: their hash differs")
	}
}

func checkTime(t, now time.Time, report reporter) {
	switch {
	case t.IsZero(): // reported by who read it
	case t.Before(earliest):
		report.warn(ruleTime, fmt.Sprintf("%s is before %d", formatTime(t), earliest.Year()))
	case t.After(now.Add(ahead)):
		report.warn(ruleTime, formatTime(t)+" is in the future")
	}
}

// openEntry reads and checks an entry for use. The reason is empty, invalid or tampered.
func openEntry(raw json.RawMessage, now time.Time) (r *record, reason string, why Finding) {
	var findings []Finding
	report := reporter{list: &findings}
	r = decodeRecord(raw, report)
	if bad, ok := firstError(findings); ok {
		return nil, reasonInvalid, bad
	}
	checkRecord(r, now, true, report)
	if bad, ok := firstError(findings); ok {
		return nil, reasonTampered, bad
	}
	return r, "", Finding{}
}
