package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"collie/internal/tool"
)

// This file selects and decodes records that are read.

// Entry is a record that was read from disk.
type Entry struct {
	// Chain is the id of the record's chain.
	Chain string `json:"-"`
	// Raw is the whole line without its line feed.
	Raw json.RawMessage `json:"-"`

	Seq        uint64          `json:"seq"`
	Time       time.Time       `json:"ts"`
	Kind       string          `json:"kind"`
	CallID     string          `json:"callId"`
	Parent     string          `json:"parent"`
	Origin     string          `json:"origin"`
	Principal  string          `json:"principal"`
	Client     string          `json:"client"`
	Session    string          `json:"session"`
	Source     string          `json:"source"`
	Tool       string          `json:"tool"`
	Action     string          `json:"action"`
	Name       string          `json:"name"`
	Risk       string          `json:"risk"`
	Args       json.RawMessage `json:"args"`
	Outcome    string          `json:"outcome"`
	ErrorType  string          `json:"errorType"`
	Message    string          `json:"message"`
	DurationUs int64           `json:"durationUs"`
	BytesIn    int             `json:"bytesIn"`
	BytesOut   int             `json:"bytesOut"`
	Detail     json.RawMessage `json:"detail"`
}

// Filter selects records. An empty field matches all.
type Filter struct {
	// Since is inclusive, Until exclusive.
	Since, Until time.Time
	// Session is a session id or its digest.
	Session string
	Tool    string
	Action  string
	Origin  string
	Outcome string
	CallID  string
	// Kind is a kind such as "call.start", or its part before the dot.
	Kind string
	// Text must occur somewhere in the line; case is ignored.
	Text string
	// Without leaves out the calls of this client that only read, such as those that the pages make to show something.
	Without string
	// Before selects the records that come before this place; the zero value sets no bound.
	Before Mark
	// Limit selects only the newest so many; 0 means all.
	Limit int
}

// matcher is a Filter in a form that is fast to apply.
type matcher struct {
	Filter
	since, until string // in timeLayout
	digest       string
	text         []byte // lower case
}

func (f Filter) matcher() *matcher {
	m := &matcher{Filter: f, digest: SessionDigest(f.Session), text: bytes.ToLower([]byte(f.Text))}
	if !f.Since.IsZero() {
		m.since = f.Since.UTC().Format(timeLayout)
	}
	if !f.Until.IsZero() {
		m.until = f.Until.UTC().Format(timeLayout)
	}
	if before := f.Before.Time; !before.IsZero() && (f.Until.IsZero() || before.Before(f.Until)) {
		m.until = before.UTC().Add(time.Microsecond).Format(timeLayout) // matches decides about records of that very time
	}
	return m
}

// decodeMatch decodes l if it matches. It checks the raw bytes first, which is cheaper.
func (m *matcher) decodeMatch(chain string, l *line) (Entry, bool) {
	when := string(l.time)
	if when < m.since || m.until != "" && when >= m.until {
		return Entry{}, false
	}
	if m.CallID != "" && !bytes.Contains(l.raw, []byte(m.CallID)) {
		return Entry{}, false
	}
	if len(m.text) > 0 && !bytes.Contains(bytes.ToLower(l.raw), m.text) {
		return Entry{}, false
	}
	e := Entry{Chain: chain, Raw: bytes.Clone(l.raw)}
	if json.Unmarshal(e.Raw, &e) != nil {
		return Entry{}, false
	}
	return e, m.matches(&e)
}

func (m *matcher) matches(e *Entry) bool {
	isWanted := func(want, have string) bool { return want == "" || want == have }
	if !m.Before.Time.IsZero() && compareMarks(e.Mark(), m.Before) >= 0 {
		return false
	}
	if m.Without != "" && e.Client == m.Without && strings.HasPrefix(e.Kind, "call.") && e.Risk == string(tool.RiskNone) {
		return false
	}
	return isWanted(m.Tool, e.Tool) && isWanted(m.Action, e.Action) && isWanted(m.Origin, e.Origin) &&
		isWanted(m.Outcome, e.Outcome) && isWanted(m.CallID, e.CallID) &&
		(isWanted(m.Session, e.Session) || m.digest == e.Session) &&
		(isWanted(m.Kind, e.Kind) || strings.HasPrefix(e.Kind, m.Kind+"."))
}
