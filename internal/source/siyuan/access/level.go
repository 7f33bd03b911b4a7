package access

import (
	"fmt"
	"strings"
)

// Level says what may be done in a notebook. Each level allows everything that lower levels allow.
type Level uint8

// The levels.
const (
	None   Level = iota // to callers the notebook does not exist
	Read                // r
	Write               // rw
	Delete              // rwd
)

var levelNames = [...]string{"none", "r", "rw", "rwd"}

// String returns the level as it is written in files and commands: none, r, rw or rwd.
func (l Level) String() string { return levelNames[l] }

// MarshalText encodes the level as [Level.String] does.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Verb returns what the level allows beyond the next lower one, for errors.
func (l Level) Verb() string {
	return [...]string{"nothing", "read", "write", "delete"}[l]
}

// ParseLevel parses a level that a person wrote.
func ParseLevel(s string) (Level, error) {
	for i, name := range levelNames {
		if strings.EqualFold(strings.TrimSpace(s), name) {
			return Level(i), nil
		}
	}
	return None, fmt.Errorf("unknown level %q, expected none, r, rw or rwd", s)
}

// parseStored parses a level in a file, including old words. Anything else means none.
func parseStored(s string) Level {
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
