package av

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// moment is a date as callers write it. One that cannot be read says what is wrong with it, for
// the error to name the cell.
type moment struct {
	at      time.Time
	hasTime bool
	wrong   string
}

// ArgSchema is that of an argument: a text or a number.
func (moment) ArgSchema() string { return `{"type":["string","integer"]}` }

// dateLayouts are the forms of a date that are read; what has no zone is local time, as in the
// interface. Parts of a day may also be parted by / or by 年月日.
var dateLayouts = []struct {
	layout  string
	hasTime bool
}{
	{time.RFC3339Nano, true},
	{"2006-01-02T15:04Z07:00", true},
	{"2006-1-2T15:04:05", true},
	{"2006-1-2T15:04", true},
	{"2006-1-2 15:04:05", true},
	{"2006-1-2 15:04", true},
	{"2006-1-2", false},
}

// compactLayouts are forms of a date in digits alone, as SiYuan writes times, by their length.
var compactLayouts = map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}

const dateForms = "expected ISO text such as 2024-08-01 or 2024-08-01T09:30, or epoch milliseconds"

// UnmarshalJSON reads a date. It never fails: see [moment].
func (m *moment) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || string(raw) == "null" {
		text = string(raw)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		*m = moment{wrong: "is empty, " + dateForms + "; clear=true empties the cell"}
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*m = digits(text, n)
		return nil
	}
	plain := strings.NewReplacer("/", "-", "年", "-", "月", "-", "日", "").Replace(text)
	for _, l := range dateLayouts {
		if at, err := time.ParseInLocation(l.layout, plain, time.Local); err == nil {
			*m = moment{at: at, hasTime: l.hasTime}
			return nil
		}
	}
	*m = moment{wrong: "is " + shortened(raw) + ", which is not a date, " + dateForms}
	return nil
}

// digits is a date that is written in digits: as SiYuan writes times, or in milliseconds.
func digits(text string, n int64) moment {
	if at, err := time.ParseInLocation(compactLayouts[len(text)], text, time.Local); err == nil && at.Year() > 1900 && at.Year() < 2200 {
		return moment{at: at, hasTime: len(text) > len("20060102")}
	}
	at := time.UnixMilli(n)
	if n >= 1e9 && n < 1e10 { // some weeks of 1970, or any time of the last decades in seconds
		return moment{wrong: "is " + text + ", which looks like seconds and would be " + at.Format(time.DateOnly) + ", " + dateForms}
	}
	h, m, s := at.Clock()
	return moment{at: at, hasTime: h+m+s > 0}
}

// shortened is a value of the caller's for an error.
func shortened(raw []byte) string {
	const most = 60
	if text := []rune(string(raw)); len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(raw)
}
