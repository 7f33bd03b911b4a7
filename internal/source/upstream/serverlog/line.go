package serverlog

import (
	"slices"
	"strings"
	"time"

	"collie/internal/process"
	"collie/internal/tool"
)

// A line in the file is "<time> <stream> <text>". The time is in UTC with microseconds and always has the same width.
const timeFormat = "2006-01-02T15:04:05.000000Z"

func appendLine(b []byte, e process.Entry) []byte {
	b = e.Time.UTC().AppendFormat(b, timeFormat)
	b = append(append(append(b, ' '), e.Stream...), ' ')
	return append(append(b, e.Text...), '\n')
}

// parseLine parses a line without its break. ok is false for a line that appendLine did not write, such as the rest
// of a line torn by a crash.
func parseLine(raw string) (tool.LogLine, bool) {
	if len(raw) < len(timeFormat)+2 || raw[len(timeFormat)] != ' ' {
		return tool.LogLine{}, false
	}
	t, err := time.Parse(timeFormat, raw[:len(timeFormat)])
	if err != nil {
		return tool.LogLine{}, false
	}
	stream, text, ok := strings.Cut(raw[len(timeFormat)+1:], " ")
	if !ok || stream == "" {
		return tool.LogLine{}, false
	}
	return tool.LogLine{Time: t, Stream: strings.Clone(stream), Text: strings.ToValidUTF8(text, "\uFFFD")}, true
}

// lineOf returns an entry in the form in which it would be read from the file.
func lineOf(e process.Entry) tool.LogLine {
	return tool.LogLine{Time: e.Time.UTC().Truncate(time.Microsecond), Stream: e.Stream, Text: e.Text}
}

// matchesFilter reports whether line matches f by time and stream.
func matchesFilter(f tool.LogFilter, line tool.LogLine) bool {
	return !line.Time.Before(f.Since) && (len(f.Streams) == 0 || slices.Contains(f.Streams, line.Stream))
}

// last returns the last n lines, or all if n <= 0.
func last(lines []tool.LogLine, n int) []tool.LogLine {
	if n <= 0 || n >= len(lines) {
		return lines
	}
	return lines[len(lines)-n:]
}
