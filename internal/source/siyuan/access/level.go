package access

import (
	"fmt"
	"strings"
)

// Level is what may be done in a notebook. Levels are ordered: each allows what those before
// it allow.
type Level uint8

// The levels.
const (
	None   Level = iota // the notebook does not exist for callers
	Read                // r
	Write               // rw
	Delete              // rwd
)

var levelNames = [...]string{"none", "r", "rw", "rwd"}

// String is the level as files and people write it: none, r, rw or rwd.
func (l Level) String() string { return levelNames[l] }

// MarshalText writes the level as [Level.String] does.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Verb is what a level allows beyond the one before it, as errors name it.
func (l Level) Verb() string {
	return [...]string{"nothing", "read", "write", "delete"}[l]
}

// ParseLevel reads a level that a person wrote.
func ParseLevel(s string) (Level, error) {
	for i, name := range levelNames {
		if strings.EqualFold(strings.TrimSpace(s), name) {
			return Level(i), nil
		}
	}
	return None, fmt.Errorf("unknown level %q, expected none, r, rw or rwd", s)
}

// stored reads a level that stands in a file, old words included; whatever is written in any
// other way is none.
func stored(s string) Level {
	switch s {
	case "r", "readonly":
		return Read
	case "rw", "write":
		return Write
	case "rwd":
		return Delete
	}
	return None
}
