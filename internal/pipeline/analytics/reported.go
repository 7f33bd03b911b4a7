package analytics

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"collie/internal/atomicfile"
)

// reportState is the content of the state file.
type reportState struct {
	LastReportAt int64 `json:"lastReportAt"` // milliseconds
}

// last is when the last report was made, the zero time if there was none.
func (t *Telemetry) last() (time.Time, error) {
	raw, err := os.ReadFile(t.state)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of the last report: %w", err)
	}
	var s reportState
	if json.Unmarshal(raw, &s) != nil || s.LastReportAt <= 0 || s.LastReportAt > most {
		return time.Time{}, nil // a file that is broken knows of no report
	}
	return time.UnixMilli(s.LastReportAt), nil
}

func (t *Telemetry) reported(at int64) error {
	raw, err := json.Marshal(reportState{at})
	if err != nil {
		return err
	}
	return atomicfile.Write(t.state, append(raw, '\n'), 0o600)
}
