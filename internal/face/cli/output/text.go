package output

import (
	"fmt"
	"strings"
	"time"

	"collie/internal/face/cli/locale"
)

// This file writes sizes, times and values for people.

// BinarySize writes a number of bytes for people, in units of 1,024.
func BinarySize(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// Ago returns a text such as "40s ago".
func Ago(t, now time.Time) string {
	return locale.Sprintf("%s ago", max(now.Sub(t), 0).Truncate(time.Second))
}

// ShellQuote quotes s as one word of a shell command line.
func ShellQuote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,@%+", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Age writes a duration in its largest unit.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return locale.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// maxValueWidth is the maximum width of a value, in columns.
const maxValueWidth = 120

// Cut returns a text on one line, cut to maxValueWidth.
func Cut(text string) string { return Truncate(OneLine(text), maxValueWidth) }

// DecimalSize writes a number of bytes in units of 1,000.
func DecimalSize(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.0f KB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// FirstLine returns the first non-empty line of a text.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
