package audit

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	auditadmin "collie/internal/pipeline/audit/admin"
)

// This file prints audit records as a table.

// recordHead names the columns of a table of records.
var recordHead = []string{"TIME", "KIND", "ORIGIN", "WHAT", "OUTCOME", "MS", "MESSAGE"}

// recordWidths are the column widths for rows that are written as they come. narrowWidths are those for a terminal that has
// room only for short times.
var (
	recordWidths = []int{23, 15, 10, 32, 9, 9, 200}
	narrowWidths = []int{14, 11, 6, 14, 7, 6, 200}
)

// showRecords writes records: as a table when all are known or, with stream, each as it comes. With --json it
// writes the lines of the files.
func (p commands) showRecords(ctx context.Context, seq iter.Seq2[auditadmin.Entry, error], stream bool) error {
	var cells [][]string
	width := output.TerminalWidth(p.Out)
	line := p.Rows(recordHead, widthsFor(width))
	for e, err := range seq {
		switch {
		case ctx.Err() != nil:
			return nil // a person ends the command by interrupting it
		case err != nil:
			return err
		case p.JSON:
			err = p.WriteJSON(e.Raw)
		case stream:
			_, err = fmt.Fprintln(p.Out, line(shortTime(recordRow(&e), width)))
		default:
			cells = append(cells, shortTime(recordRow(&e), width))
		}
		if err != nil {
			return err
		}
	}
	switch {
	case p.JSON || stream:
		return nil
	case cells == nil:
		p.Note("no records")
		return nil
	}
	return p.Table(recordHead, cells)
}

// roomForTime is the terminal width from which times show year and milliseconds.
const roomForTime = 120

// widthsFor returns the column widths for a terminal of this width.
func widthsFor(width int) []int {
	if isNarrow(width) {
		return narrowWidths
	}
	return recordWidths
}

// isNarrow reports whether a terminal has no room for long times. The width 0 means that there is no
// terminal.
func isNarrow(width int) bool { return width > 0 && width < roomForTime }

// shortTime returns row with a short time if the terminal is narrow.
func shortTime(row []string, width int) []string {
	if isNarrow(width) {
		row[0] = row[0][len("2006-") : len(row[0])-len(".000")]
	}
	return row
}

// recordRow returns the cells of a record.
func recordRow(e *auditadmin.Entry) []string {
	ms := ""
	if e.DurationUs > 0 {
		ms = strconv.FormatFloat(float64(e.DurationUs)/1000, 'f', 1, 64)
	}
	about := strings.TrimSpace(e.ErrorType + " " + e.Message)
	switch e.Kind {
	case "change", "export", "prune", "decision":
		about = string(e.Detail)
	}
	return []string{
		e.Time.Local().Format("2006-01-02 15:04:05.000"), e.Kind, e.Origin, subject(e), e.Outcome, ms, about,
	}
}

// subject returns what a record is about: tool and action, the name that the caller wrote, or the process
// that wrote the chain.
func subject(e *auditadmin.Entry) string {
	switch {
	case e.Action != "":
		return e.Tool + "." + e.Action
	case e.Kind == "chain.start":
		return locale.Sprintf("pid %s", gjson.GetBytes(e.Detail, "pid").String())
	}
	return output.FirstNonEmpty(e.Name, e.Tool)
}
