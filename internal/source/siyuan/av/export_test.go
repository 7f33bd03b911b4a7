package av

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// ToolWithShortWaits returns the tool with short waits.
func ToolWithShortWaits() action.Tool {
	return tools(retryWaits{time.Millisecond, 2 * time.Millisecond})
}

// Table returns what render makes of an answer of the kernel: the number of columns, the cells of
// each row as text, the number of groups, and the number of all rows.
func Table(raw json.RawMessage) (columns int, rows []string, groups, count int, err error) {
	got, err := parse(raw)
	if err != nil {
		return 0, nil, 0, 0, err
	}
	t := tableOf(&got.View)
	for _, r := range t.Rows {
		rows = append(rows, fmt.Sprint(r.Cells...))
	}
	return len(t.Columns), rows, len(t.Groups), t.RowCount, nil
}

// MaskID leaves an id out of an answer.
func MaskID(raw []byte, id string) (json.RawMessage, error) {
	m := &mask{ids: map[kernel.ID]bool{kernel.ID(id): true}, hidden: 1}
	return m.removeHidden(raw)
}

// ReadDate reads a date as callers write it.
func ReadDate(raw []byte) (time.Time, error) {
	var m dateInput
	if err := m.UnmarshalJSON(raw); err != nil || m.wrong != "" {
		return m.at, errors.Join(err, errors.New(m.wrong))
	}
	return m.at, nil
}
