package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// This file has the functions for times. The letters in params are types of arguments, as kinds in value.go lists them.

var dateFunctions = map[string]function{
	"now": {call: func(*run, []any) (any, error) { return time.Now().Round(0), nil }},
	"date": {params: "sa", call: func(r *run, a []any) (any, error) {
		return format(r, timeOrNow(a[1]), a[0].(string))
	}},
	"htmlDate":  {params: "a", call: func(r *run, a []any) (any, error) { return format(r, timeOrNow(a[0]), time.DateOnly) }},
	"unixEpoch": {params: "t", call: func(_ *run, a []any) (any, error) { return strconv.FormatInt(timeOf(a[0]).Unix(), 10), nil }},
	"ago": {params: "a", call: func(_ *run, a []any) (any, error) {
		return time.Since(timeOrNow(a[0])).Round(time.Second).String(), nil
	}},
	"duration":      {params: "a", call: func(_ *run, a []any) (any, error) { return secondsOf(a[0]).String(), nil }},
	"durationRound": {params: "a", call: func(_ *run, a []any) (any, error) { return roundDuration(a[0]), nil }},
	"dateModify":    {params: "st", call: dateModify},
	"date_modify":   {params: "st", call: dateModify},
	"toDate": {params: "ss", call: func(_ *run, a []any) (any, error) {
		t, _ := time.ParseInLocation(a[0].(string), a[1].(string), time.Local)
		return t, nil
	}},
	"parseTime":  {params: "s", call: func(_ *run, a []any) (any, error) { return parseTime(a[0].(string)), nil }},
	"Weekday":    {params: "t", call: func(_ *run, a []any) (any, error) { return int(timeOf(a[0]).Weekday()), nil }},
	"WeekdayCN":  {params: "t", call: func(_ *run, a []any) (any, error) { return weekday(a[0], "日"), nil }},
	"WeekdayCN2": {params: "t", call: func(_ *run, a []any) (any, error) { return weekday(a[0], "天"), nil }},
	"ISOYear": {params: "t", call: func(_ *run, a []any) (any, error) {
		year, _ := timeOf(a[0]).ISOWeek()
		return year, nil
	}},
	"ISOWeek": {params: "t", call: func(_ *run, a []any) (any, error) {
		_, week := timeOf(a[0]).ISOWeek()
		return week, nil
	}},
	// The month of an ISO 8601 week is that of its Thursday.
	"ISOMonth":    {params: "t", call: func(_ *run, a []any) (any, error) { return int(dayOfWeek(timeOf(a[0]), 4).Month()), nil }},
	"ISOWeekDate": {params: "it", call: func(_ *run, a []any) (any, error) { return dayOfWeek(timeOf(a[1]), a[0].(int)), nil }},
}

func timeOf(value any) time.Time { return value.(time.Time) }

// format formats a time by a layout of package time.
func format(r *run, t time.Time, layout string) (any, error) {
	if err := r.countBytes(4*len(layout) + 16); err != nil {
		return nil, err
	}
	return t.Format(layout), nil
}

// timeOrNow returns a time, or that of a number of seconds since 1970. Any other value means now.
func timeOrNow(value any) time.Time {
	switch v := value.(type) {
	case time.Time:
		return v
	case int:
		return time.Unix(int64(v), 0)
	case int64:
		return time.Unix(v, 0)
	}
	return time.Now()
}

// secondsOf converts a number of seconds to a duration. As in Sprig, an int, such as a number in the template, gives 0.
func secondsOf(value any) time.Duration {
	n, _ := value.(int64)
	if s, ok := value.(string); ok {
		n, _ = strconv.ParseInt(s, 10, 64)
	}
	return time.Duration(n) * time.Second
}

// roundDuration formats a duration in the largest unit of which it has more than one.
func roundDuration(value any) string {
	var d time.Duration
	switch v := value.(type) {
	case string:
		d, _ = time.ParseDuration(v)
	case int64:
		d = time.Duration(v)
	case time.Time:
		d = time.Since(v)
	}
	d = d.Abs()
	const day = 24 * time.Hour
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"y", 365 * day}, {"mo", 30 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d > unit.size {
			return fmt.Sprintf("%d%s", d/unit.size, unit.name)
		}
	}
	return "0s"
}

func dateModify(_ *run, a []any) (any, error) {
	d, err := time.ParseDuration(a[0].(string))
	if err != nil {
		return a[1], nil //nolint:nilerr // as in Sprig, an invalid duration changes nothing
	}
	return timeOf(a[1]).Add(d), nil
}

func weekday(value any, sunday string) string {
	return []string{sunday, "一", "二", "三", "四", "五", "六"}[timeOf(value).Weekday()]
}

// dayOfWeek returns a day in the week of a time, from 1 for Monday.
func dayOfWeek(t time.Time, day int) time.Time {
	return t.AddDate(0, 0, day-(int(t.Weekday())+6)%7-1)
}

// layouts are the layouts that parseTime accepts.
var layouts = []string{
	time.RFC3339Nano, time.DateTime, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999 -0700 MST", "2006-1-2 15:04", "2006-1-2T15:04",
	"2006-1-2 15:04:05", "2006-1-2 3:04 PM", "2006-1-2 3:04:05 PM", "2006-1-2", "2006-1", "2006/1/2", "2006/1/2 15:04", "2006/1/2 15:04:05",
	"2006.1.2", "2006.1.2 15:04", "2006.1.2 15:04:05", "1/2/2006", "1/2/2006 15:04", "1/2/2006 15:04:05", "1.2.2006",
	"January 2, 2006", "January 2, 2006 15:04:05", "January 2, 2006 3:04:05 PM", "January 2, 2006 3:04 PM", "January 2, 2006 15:04",
	"2 January 2006", "2 January 2006 15:04", "2 January 2006 15:04:05",
	"Jan 2, 2006", "Jan 2, 2006 15:04:05", "Jan 2, 2006 3:04:05 PM", "Jan 2, 2006 3:04 PM", "Jan 2, 2006 15:04",
	"2 Jan 2006", "2 Jan 2006 15:04", "2 Jan 2006 15:04:05",
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate, time.RubyDate,
}

// digitLayouts are the layouts of times that consist of digits only, by length.
var digitLayouts = map[int]string{4: "2006", 8: "20060102", 14: "20060102150405"}

// parseTime parses a time in one of many formats, including seconds or milliseconds since 1970. As in SiYuan, any other
// text means now.
func parseTime(s string) time.Time {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && strings.Trim(s, "0123456789") == "" {
		switch len(s) {
		case 10:
			return time.Unix(n, 0)
		case 13:
			return time.UnixMilli(n)
		case 16:
			return time.UnixMicro(n)
		case 19:
			return time.Unix(0, n)
		}
		if t, err := time.ParseInLocation(digitLayouts[len(s)], s, time.Local); err == nil && digitLayouts[len(s)] != "" {
			return t
		}
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t
		}
	}
	return time.Now().Round(0)
}

// method returns a method of a time, duration, month or weekday by name; false if there is none.
func method(value any, name string) (function, bool) {
	var f function
	switch v := value.(type) {
	case time.Time:
		f = timeMethod(v, name)
	case time.Duration:
		f = durationMethod(v, name)
	case time.Month:
		if name == "String" {
			f = getter(v.String())
		}
	case time.Weekday:
		if name == "String" {
			f = getter(v.String())
		}
	}
	f.name = name
	return f, f.call != nil
}

// getter returns a method without arguments that returns value.
func getter(value any) function {
	return function{call: func(*run, []any) (any, error) { return value, nil }}
}

// newMethod returns a method that cannot fail. params are the types of its parameters, as in [function].
func newMethod(params string, call func(a []any) any) function {
	return function{params: params, call: func(_ *run, a []any) (any, error) { return call(a), nil }}
}

// timeMethod returns a method of a time that templates may call, the zero function if there is none with that name.
func timeMethod(t time.Time, name string) function {
	switch name {
	case "Format":
		return function{params: "s", call: func(r *run, a []any) (any, error) { return format(r, t, a[0].(string)) }}
	case "String":
		return getter(t.String())
	case "Year":
		return getter(t.Year())
	case "Month":
		return getter(t.Month())
	case "Day":
		return getter(t.Day())
	case "Weekday":
		return getter(t.Weekday())
	case "YearDay":
		return getter(t.YearDay())
	case "Hour":
		return getter(t.Hour())
	case "Minute":
		return getter(t.Minute())
	case "Second":
		return getter(t.Second())
	case "Unix":
		return getter(t.Unix())
	case "UnixMilli":
		return getter(t.UnixMilli())
	case "IsZero":
		return getter(t.IsZero())
	case "Local":
		return getter(t.Local())
	case "UTC":
		return getter(t.UTC())
	case "AddDate":
		return newMethod("iii", func(a []any) any { return t.AddDate(a[0].(int), a[1].(int), a[2].(int)) })
	case "Add":
		return newMethod("D", func(a []any) any { return t.Add(a[0].(time.Duration)) })
	case "Truncate":
		return newMethod("D", func(a []any) any { return t.Truncate(a[0].(time.Duration)) })
	case "Round":
		return newMethod("D", func(a []any) any { return t.Round(a[0].(time.Duration)) })
	case "Sub":
		return newMethod("t", func(a []any) any { return t.Sub(timeOf(a[0])) })
	case "Before":
		return newMethod("t", func(a []any) any { return t.Before(timeOf(a[0])) })
	case "After":
		return newMethod("t", func(a []any) any { return t.After(timeOf(a[0])) })
	case "Equal":
		return newMethod("t", func(a []any) any { return t.Equal(timeOf(a[0])) })
	case "Compare":
		return newMethod("t", func(a []any) any { return t.Compare(timeOf(a[0])) })
	}
	return function{}
}

// durationMethod is like timeMethod for durations.
func durationMethod(d time.Duration, name string) function {
	switch name {
	case "String":
		return getter(d.String())
	case "Hours":
		return getter(d.Hours())
	case "Minutes":
		return getter(d.Minutes())
	case "Seconds":
		return getter(d.Seconds())
	case "Milliseconds":
		return getter(d.Milliseconds())
	case "Truncate":
		return newMethod("D", func(a []any) any { return d.Truncate(a[0].(time.Duration)) })
	case "Round":
		return newMethod("D", func(a []any) any { return d.Round(a[0].(time.Duration)) })
	}
	return function{}
}
