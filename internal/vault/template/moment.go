package template

import "time"

// moment is a time as templates have it. It hides the methods of time.Time, whose texts could grow uncounted.
type moment struct {
	at time.Time
	b  *budget
}

// Format writes the time by a layout of package time.
func (m moment) Format(layout string) (string, error) {
	if err := m.b.make(4 * len(layout)); err != nil {
		return "", err
	}
	return m.at.Format(layout), nil
}

// String is the time as templates print it.
func (m moment) String() string { return m.at.Round(0).String() }
