package toolcache

import (
	"maps"
	"slices"
	"time"
)

// Stats is what is known of a cache.
type Stats struct {
	FileInfo             // zero for a cache in memory
	Servers  []ServerRow `json:"servers"`
	// Since the cache was opened:
	Lookups      uint64            `json:"lookups"`
	Hits         uint64            `json:"hits"`
	StaleHits    uint64            `json:"staleHits"`
	StaleReasons map[string]uint64 `json:"staleReasons"`
	Misses       uint64            `json:"misses"` // expired ones included
	MissReasons  map[string]uint64 `json:"missReasons"`
	HitRate      float64           `json:"hitRate"` // (hits + stale) / lookups; 0 without lookups
	Refreshes    RefreshCount      `json:"refreshes"`
	Refused      map[string]uint64 `json:"refused"` // lists of servers that were not kept, by reason
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
	Bytes       int       `json:"bytes"` // as it lies in the file; 0 before it does
	Scope       string    `json:"scope,omitempty"`
	LastError   string    `json:"lastError,omitempty"`
	LastUpdated time.Time `json:"lastUpdated,omitzero"`
	ValidatedAt time.Time `json:"validatedAt,omitzero"`
}

// RefreshCount counts lists that live servers gave.
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
	// How long writing took, with waiting for the lock; commits that failed are among them.
	LastMillis    float64 `json:"lastMs"`
	MeanMillis    float64 `json:"meanMs"`
	LongestMillis float64 `json:"longestMs"`
}

// SharedCount counts the traffic with the shared place.
type SharedCount struct {
	Adopted  uint64            `json:"adopted"`
	Pushed   uint64            `json:"pushed"`
	Dropped  uint64            `json:"dropped"` // for a bad signature
	Failures map[string]uint64 `json:"failures"`
}

// counters count since the cache was opened.
type counters struct {
	Verdicts      map[Verdict]uint64
	Misses, Stale map[string]uint64 // by reason
	Refreshes     RefreshCount
	Refused       map[string]uint64
	Writes        WriteCount
	Failures      map[string]map[string]uint64 // by what was done and the cause
	Merges        uint64
	Load          time.Duration
	Write         writeTimes
	LastFailure   string
	Shared        SharedCount
}

func newCounters() counters {
	return counters{
		Verdicts: map[Verdict]uint64{}, Misses: map[string]uint64{}, Stale: map[string]uint64{},
		Refused: map[string]uint64{}, Failures: map[string]map[string]uint64{},
	}
}

func (n *counters) lookup(v Verdict, reason string) {
	n.Verdicts[v]++
	switch v {
	case Miss, Expired:
		n.Misses[reason]++
	case Stale:
		n.Stale[reason]++
	case Hit:
	}
}

func (n *counters) refresh(changed bool) {
	n.Refreshes.OK++
	if changed {
		n.Refreshes.Changed++
	} else {
		n.Refreshes.Unchanged++
	}
}

func (n *counters) failure(what, cause, message string) {
	if n.Failures[what] == nil {
		n.Failures[what] = map[string]uint64{}
	}
	n.Failures[what][cause]++
	n.LastFailure = message
}

// Stats is what is known of the cache now. It reads every entry that nobody has looked at yet,
// and no file.
func (c *Cache) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	var st Stats
	if c.file != nil {
		st.FileInfo = c.file.Info()
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.count
	st.Hits, st.StaleHits, st.Misses = n.Verdicts[Hit], n.Verdicts[Stale], n.Verdicts[Miss]+n.Verdicts[Expired]
	st.Lookups = st.Hits + st.StaleHits + st.Misses
	if st.Lookups > 0 {
		st.HitRate = float64(st.Hits+st.StaleHits) / float64(st.Lookups)
	}
	st.StaleReasons, st.MissReasons, st.Refused = maps.Clone(n.Stale), maps.Clone(n.Misses), maps.Clone(n.Refused)
	st.Refreshes, st.Writes, st.Merges, st.LastFailure = n.Refreshes, n.Writes, n.Merges, n.LastFailure
	st.Writes.Failed, st.ReadFailures = counts(n.Failures["write"]), counts(n.Failures["read"])
	st.Writes.LockWaits = st.LockWaits
	st.Writes.LastMillis, st.Writes.MeanMillis, st.Writes.LongestMillis = millis(n.Write.last), millis(n.Write.mean()), millis(n.Write.longest)
	st.LoadMillis = millis(n.Load)
	if st.Compressed {
		st.BytesSaved = st.PlainSize - st.Size
	}
	if c.shared != nil {
		sum := n.Shared
		sum.Failures = map[string]uint64{}
		for _, what := range []string{"shared_read", "shared_write", "shared_lease"} {
			for cause, k := range n.Failures[what] {
				sum.Failures[cause] += k
			}
		}
		st.Shared = &sum
	}
	for _, name := range slices.Sorted(maps.Keys(c.slots)) {
		if s := c.slots[name]; !s.gone {
			st.Servers = append(st.Servers, c.row(name, s, now))
		}
	}
	return st
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// writeTimes is how long commits to the file took.
type writeTimes struct {
	n                  int64
	last, longest, sum time.Duration
}

func (w *writeTimes) add(d time.Duration) {
	w.n++
	w.last, w.longest, w.sum = d, max(w.longest, d), w.sum+d
}

func (w *writeTimes) mean() time.Duration {
	if w.n == 0 {
		return 0
	}
	return w.sum / time.Duration(w.n)
}

func counts(m map[string]uint64) map[string]uint64 {
	if m == nil {
		return map[string]uint64{}
	}
	return maps.Clone(m)
}

func (c *Cache) row(name string, s *slot, now time.Time) ServerRow {
	row := ServerRow{Name: name, Bytes: len(s.raw), State: invalid, StateReason: s.broken}
	if w, ok := c.wants[name]; ok {
		row.Configured = true
		row.Verdict, row.Reason = s.judge(w, now, c.opts.TrustImported)
	}
	if r := s.open(now); r != nil {
		row.State, row.StateReason = r.State, r.StateReason
		row.AgeSeconds, row.Tools, row.Scope = int64(s.age(now).Seconds()), len(r.Tools), r.CacheScope
		row.LastError, row.LastUpdated, row.ValidatedAt = r.LastErrorCode, r.LastUpdated, r.ValidatedAt
	} else {
		row.StateReason = s.broken
	}
	return row
}
