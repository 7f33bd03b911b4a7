package serverlog

import (
	"slices"
	"strings"
	"time"

	"collie/internal/process"
	"collie/internal/tool"
)

// A line of a file is "<time> <stream> <text>", the time in UTC with microseconds, as wide as
// any other.
const timeFormat = "2006-01-02T15:04:05.000000Z"

func appendLine(b []byte, e process.Entry) []byte {
	b = e.Time.UTC().AppendFormat(b, timeFormat)
	b = append(append(append(b, ' '), e.Stream...), ' ')
	return append(append(b, e.Text...), '\n')
}

// parseLine reads a line without its break. It is false for anything that appendLine did not
// write, such as the rest of a line that a crash tore.
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

// lineOf is an entry as its line in the file is read again.
func lineOf(e process.Entry) tool.LogLine {
	return tool.LogLine{Time: e.Time.UTC().Truncate(time.Microsecond), Stream: e.Stream, Text: e.Text}
}

// wants reports whether f wants a line, if it is late enough in the log.
func wants(f tool.LogFilter, line tool.LogLine) bool {
	return !line.Time.Before(f.Since) && (len(f.Streams) == 0 || slices.Contains(f.Streams, line.Stream))
}

// last returns the last n lines, all for n <= 0.
func last(lines []tool.LogLine, n int) []tool.LogLine {
	if n <= 0 || n >= len(lines) {
		return lines
	}
	return lines[len(lines)-n:]
}
