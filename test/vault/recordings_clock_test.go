package vault

import (
	"regexp"
	"time"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/await"
)

// stampOfThatDay matches times on the day of the recordings, as ids and attributes have them.
var stampOfThatDay = regexp.MustCompile(`\b20261121\d{6}\b`)

// clock has the time at which each row of a scenario was sent. The rows are replayed at these times, because lists
// are sorted by the times of writes. It works in a synctest bubble, where waiting takes no real time.
type clock []time.Time

// workedNextSecond are the steps whose request was sent in one second and did its work in the next one, so that what they made
// has different times. In the replay they happen at one moment, in the later second.
var workedNextSecond = map[string]bool{"search#4": true}

// newClock derives the times from the ids and times in the answers: a row was sent no earlier than the latest time
// known when it was answered, and no earlier than the answer before it.
func newClock(rows []kerneltest.Row) clock {
	times := make(clock, len(rows))
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.Local)
	for i, row := range rows {
		for _, stamp := range stampOfThatDay.FindAllString(string(row.RespBody), -1) {
			if at, err := time.ParseInLocation("20060102150405", stamp, time.Local); err == nil && at.After(now) {
				now = at
			}
		}
		if workedNextSecond[stepName(row)] {
			now = now.Truncate(time.Second).Add(time.Second)
		}
		times[i] = now
		now = now.Add(time.Duration(max(row.MS, 1)) * time.Millisecond)
	}
	return times
}

// waitForRow waits until the row at i is due.
func (c clock) waitForRow(i int) { await.Sleep(time.Until(c[i])) }
