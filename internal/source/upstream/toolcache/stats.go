package toolcache

import (
	"maps"
	"slices"
	"time"
)

// This file counts hits, misses and writes.

// Stats describes the state of a cache.
type Stats struct {
	FileInfo             // zero for a cache in memory
	Servers  []ServerRow `json:"servers"`
	// Since the cache was opened:
	Lookups      uint64            `json:"lookups"`
	Hits         uint64            `json:"hits"`
	StaleHits    uint64            `json:"staleHits"`
	StaleReasons map[string]uint64 `json:"staleReasons"`
	Misses       uint64            `json:"misses"` // including expired ones
	MissReasons  map[string]uint64 `json:"missReasons"`
	HitRate      float64           `json:"hitRate"` // (hits + stale) / lookups; 0 without lookups
	Refreshes    RefreshCount      `json:"refreshes"`
	Refused      map[string]uint64 `json:"refused"` // lists that were not stored, by reason
	Writes       WriteCount        `json:"writes"`
	ReadFailures map[string]uint64 `json:"readFailures"` // by cause
	Merges       uint64            `json:"merges"`
	LoadMillis   float64           `json:"loadMs"`
	BytesSaved   int64             `json:"bytesSaved"` // by compression, now
	LastFailure  string            `json:"lastFailure,omitempty"`
	Shared       *SharedCount      `json:"shared,omitempty"` // nil without a shared place
}

// ServerRow is one server's entry.
type ServerRow struct {
	Name        string    `json:"name"`
	Configured  bool      `json:"configured"`
	Verdict     Verdict   `json:"verdict,omitempty"` // empty if it is not configured
	Reason      string    `json:"reason,omitempty"`
	State       State     `json:"state"`
	StateReason string    `json:"stateReason,omitempty"`
	AgeSeconds  int64     `json:"ageSeconds"` // since a live server confirmed it
	Tools       int       `json:"tools"`
	Bytes       int       `json:"bytes"` // in the file; 0 before it is written
	Scope       string    `json:"scope,omitempty"`
	LastError   string    `json:"lastError,omitempty"`
	LastUpdated time.Time `json:"lastUpdated,omitzero"`
	ValidatedAt time.Time `json:"validatedAt,omitzero"`
}

// RefreshCount counts lists from live servers.
type RefreshCount struct {
	OK        uint64 `json:"ok"`
	Changed   uint64 `json:"changed"`
	Unchanged uint64 `json:"unchanged"`
	Failed    uint64 `json:"failed"`
}

// WriteCount counts commits to the file.
type WriteCount struct {
	OK        uint64            `json:"ok"`
	Entries   uint64            `json:"entries"`
	Failed    map[string]uint64 `json:"failed"` // by cause
	LockWaits uint64            `json:"lockWaits"`
	// Duration of commits, including the wait for the lock, and including failed ones.
	LastMillis    float64 `json:"lastMs"`
	MeanMillis    float64 `json:"meanMs"`
	LongestMillis float64 `json:"longestMs"`

	commits float64
}

// SharedCount counts the traffic with the shared place.
type SharedCount struct {
	Adopted  uint64            `json:"adopted"`
	Pushed   uint64            `json:"pushed"`
	Dropped  uint64            `json:"dropped"` // entries with an invalid signature
	Failures map[string]uint64 `json:"failures"`
}

// newStats returns the Stats of a new cache, to be counted up in place.
func newStats() Stats {
	return Stats{
		StaleReasons: map[string]uint64{}, MissReasons: map[string]uint64{}, Refused: map[string]uint64{},
		ReadFailures: map[string]uint64{}, Writes: WriteCount{Failed: map[string]uint64{}},
	}
}

func (st *Stats) countLookup(v Verdict, reason string) {
	st.Lookups++
	switch v {
	case Hit:
		st.Hits++
	case Stale:
		st.StaleHits++
		st.StaleReasons[reason]++
	case Miss, Expired:
		st.Misses++
		st.MissReasons[reason]++
	}
	st.HitRate = float64(st.Hits+st.StaleHits) / float64(st.Lookups)
}

func (st *Stats) countRefresh(changed bool) {
	st.Refreshes.OK++
	if changed {
		st.Refreshes.Changed++
	} else {
		st.Refreshes.Unchanged++
	}
}

func (st *Stats) countFailure(operation, cause, message string) {
	st.LastFailure = message
	switch operation {
	case "read":
		st.ReadFailures[cause]++
	case "write":
		st.Writes.Failed[cause]++
	default:
		st.Shared.Failures[cause]++
	}
}

// countDuration records how long a commit to the file took.
func (w *WriteCount) countDuration(d time.Duration) {
	w.commits++
	w.LastMillis = millis(d)
	w.MeanMillis += (w.LastMillis - w.MeanMillis) / w.commits
	w.LongestMillis = max(w.LongestMillis, w.LastMillis)
}

// Stats returns the current state of the cache. It parses entries that were not looked up yet, but reads no file.
func (c *Cache) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.count
	if c.file != nil {
		st.FileInfo = c.file.Info()
	}
	st.Writes.LockWaits = st.LockWaits
	for _, m := range []*map[string]uint64{&st.StaleReasons, &st.MissReasons, &st.Refused, &st.ReadFailures, &st.Writes.Failed} {
		*m = maps.Clone(*m)
	}
	if st.Compressed {
		st.BytesSaved = st.PlainSize - st.Size
	}
	if st.Shared != nil {
		st.Shared = &SharedCount{st.Shared.Adopted, st.Shared.Pushed, st.Shared.Dropped, maps.Clone(st.Shared.Failures)}
	}
	for _, name := range slices.Sorted(maps.Keys(c.slots)) {
		if s := c.slots[name]; !s.deleted {
			st.Servers = append(st.Servers, c.describe(name, s, now))
		}
	}
	return st
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// describe returns what the statistics say of one server's entry.
func (c *Cache) describe(name string, s *slot, now time.Time) ServerRow {
	row := ServerRow{Name: name, Bytes: len(s.raw), State: invalid}
	if w, ok := c.wants[name]; ok {
		row.Configured = true
		row.Verdict, row.Reason = s.judge(w, now, c.opts.TrustImported)
	}
	if r := s.parse(now); r != nil {
		row.State, row.StateReason = r.State, r.StateReason
		row.AgeSeconds, row.Tools, row.Scope = int64(s.age(now).Seconds()), len(r.Tools), r.CacheScope
		row.LastError, row.LastUpdated, row.ValidatedAt = r.LastErrorCode, r.LastUpdated, r.ValidatedAt
	} else {
		row.StateReason = s.broken
	}
	return row
}
