package vault

import (
	"regexp"
	"time"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/await"
)

// stampOfThatDay matches times on the day of the recordings.
var stampOfThatDay = regexp.MustCompile(`\b20261121\d{6}\b`)

// clock returns when each row of a scenario was sent, so that writes recorded seconds apart are made seconds
// apart, because lists are sorted by such times. It works inside a synctest bubble, where waiting takes no
// real time.
type clock []time.Time

// late are the steps whose request was sent in one second and did its work in the next: what they made first has the
// stamp of the one, what they made last that of the other. Here it is one moment.
var late = map[string]bool{"search#4": true}

// newClock takes the times from the ids and stamps in the answers: a row was sent no earlier than the last stamp that
// was known when it was answered, and no earlier than the answer before it.
func newClock(rows []kerneltest.Row) clock {
	times := make(clock, len(rows))
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.Local)
	for i, row := range rows {
		for _, stamp := range stampOfThatDay.FindAllString(string(row.RespBody), -1) {
			if at, err := time.ParseInLocation("20060102150405", stamp, time.Local); err == nil && at.After(now) {
				now = at
			}
		}
		if late[name(row)] {
			now = now.Truncate(time.Second).Add(time.Second)
		}
		times[i] = now
		now = now.Add(time.Duration(max(row.MS, 1)) * time.Millisecond)
	}
	return times
}

// wait waits until the row at i is due.
func (c clock) wait(i int) { await.Sleep(time.Until(c[i])) }
