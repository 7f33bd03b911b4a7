package audit

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Mark is the place of a record among all records, which are ordered by time, then by chain and number.
type Mark struct {
	Time  time.Time
	Chain string
	Seq   uint64
}

// Mark returns the place of e.
func (e *Entry) Mark() Mark { return Mark{e.Time, e.Chain, e.Seq} }

// String returns m in the form that [ParseMark] reads; empty for the zero value.
func (m Mark) String() string {
	if m.Time.IsZero() {
		return ""
	}
	return strings.Join([]string{m.Time.UTC().Format(timeLayout), m.Chain, strconv.FormatUint(m.Seq, 10)}, ",")
}

// ParseMark reads what [Mark.String] returns.
func ParseMark(text string) (m Mark, err error) {
	if text == "" {
		return m, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return m, fmt.Errorf("%q is not the place of a record", text)
	}
	if m.Time, err = time.Parse(timeLayout, parts[0]); err != nil {
		return Mark{}, err
	}
	m.Chain = parts[1]
	if m.Seq, err = strconv.ParseUint(parts[2], 10, 64); err != nil {
		return Mark{}, err
	}
	return m, nil
}

func compareMarks(a, b Mark) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Seq, b.Seq))
}
