package av

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// moment is a date as callers write it.
type moment struct {
	at      time.Time
	hasTime bool
}

// ArgSchema is that of an argument: a text or a number.
func (moment) ArgSchema() string { return `{"type":["string","integer"]}` }

// dateLayouts are the forms of a date that are read; what has no zone is local time, as in the
// interface.
var dateLayouts = []struct {
	layout  string
	hasTime bool
}{
	{time.RFC3339Nano, true},
	{"2006-01-02T15:04Z07:00", true},
	{"2006-01-02T15:04:05", true},
	{"2006-01-02T15:04", true},
	{"2006-01-02 15:04:05", true},
	{"2006-01-02 15:04", true},
	{time.DateOnly, false},
}

// UnmarshalJSON reads a date.
func (m *moment) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		var ms int64
		if err := json.Unmarshal(raw, &ms); err != nil {
			return fmt.Errorf("%s is no date, expected ISO text such as 2024-08-01 or 2024-08-01T09:30, or epoch milliseconds", raw)
		}
		*m = moment{at: time.UnixMilli(ms)}
		h, min, s := m.at.Clock()
		m.hasTime = h+min+s > 0
		return nil
	}
	text = strings.TrimSpace(text)
	for _, l := range dateLayouts {
		if at, err := time.ParseInLocation(l.layout, text, time.Local); err == nil {
			*m = moment{at: at, hasTime: l.hasTime}
			return nil
		}
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) > 8 {
		return m.UnmarshalJSON([]byte(strconv.FormatInt(ms, 10)))
	}
	return fmt.Errorf("%q is no date, expected ISO text such as 2024-08-01 or 2024-08-01T09:30, or epoch milliseconds", text)
}
