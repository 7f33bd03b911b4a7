package toolcache_test

import (
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// The verdict on an entry depends on its age, the server's identity and its state.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		entry   func(*toolcache.Entry)
		want    func(*toolcache.Want)
		then    func(*toolcache.Cache)
		after   time.Duration
		verdict toolcache.Verdict
		reason  string
	}{
		"at once":                  {verdict: toolcache.Hit},
		"23 h 59":                  {after: day - time.Minute, verdict: toolcache.Hit},
		"24 h 01":                  {after: day + time.Minute, verdict: toolcache.Stale, reason: "too_old"},
		"30 days":                  {after: 30*day - time.Minute, verdict: toolcache.Stale, reason: "too_old"},
		"over 30 days":             {after: 30*day + time.Minute, verdict: toolcache.Expired, reason: "too_old"},
		"strict rule, fresh":       {want: func(w *toolcache.Want) { w.MaxStale = 0 }, after: time.Hour, verdict: toolcache.Hit},
		"strict rule, old":         {want: func(w *toolcache.Want) { w.MaxStale = 0 }, after: 25 * time.Hour, verdict: toolcache.Expired, reason: "too_old"},
		"ttl over maxAge":          {entry: func(e *toolcache.Entry) { e.TTL = 3 * day }, after: 2 * day, verdict: toolcache.Hit},
		"ttl under maxAge":         {entry: func(e *toolcache.Entry) { e.TTL = time.Minute }, after: 2 * time.Minute, verdict: toolcache.Stale, reason: "too_old"},
		"another configuration":    {want: func(w *toolcache.Want) { w.Hash = nthHash(2) }, verdict: toolcache.Miss, reason: "config_changed"},
		"no identity":              {want: func(w *toolcache.Want) { w.Hash = "" }, verdict: toolcache.Miss, reason: "no_hash"},
		"another server":           {want: func(w *toolcache.Want) { w.Name = "other" }, verdict: toolcache.Miss, reason: "no_entry"},
		"rebuilt":                  {want: func(w *toolcache.Want) { w.Fingerprint = "new" }, verdict: toolcache.Stale, reason: "fingerprint"},
		"rebuilt, strict":          {want: func(w *toolcache.Want) { w.Fingerprint, w.MaxStale = "new", 0 }, verdict: toolcache.Expired, reason: "fingerprint"},
		"signed in":                {want: func(w *toolcache.Want) { w.Principal = "somebody" }, verdict: toolcache.Miss, reason: "principal"},
		"signed in as before":      {entry: func(e *toolcache.Entry) { e.Principal = "a" }, want: func(w *toolcache.Want) { w.Principal = "a" }, verdict: toolcache.Hit},
		"signed in as another":     {entry: func(e *toolcache.Entry) { e.Principal = "a" }, want: func(w *toolcache.Want) { w.Principal = "b" }, verdict: toolcache.Miss, reason: "principal"},
		"clock set back a day":     {after: -day, verdict: toolcache.Stale, reason: "clock"},
		"clock set back a year":    {after: -365 * day, verdict: toolcache.Stale, reason: "clock"},
		"clocks that differ a bit": {after: -time.Minute, verdict: toolcache.Hit},
		"marked empty":             {then: func(c *toolcache.Cache) { c.Mark("a", toolcache.Empty, "empty_list") }, verdict: toolcache.Miss, reason: "empty"},
		"marked invalid":           {then: func(c *toolcache.Cache) { c.Mark("a", toolcache.Invalid, "broken") }, verdict: toolcache.Miss, reason: "invalid"},
		"marked removed":           {then: func(c *toolcache.Cache) { c.Mark("a", toolcache.Removed, "x") }, verdict: toolcache.Miss, reason: "removed"},
		"a refresh failed":         {then: func(c *toolcache.Cache) { c.Failed("a", "handshake_timeout") }, verdict: toolcache.Hit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCacheFile(t)
			c := b.open(t)
			e, w := newEntry(1, "x"), newWant("a", 1)
			if tc.entry != nil {
				tc.entry(e)
			}
			if tc.want != nil {
				tc.want(&w)
			}
			c.Store("a", e)
			if tc.then != nil {
				tc.then(c)
			}
			mustClose(t, c)
			b.advance(tc.after)
			wantVerdict(t, b.open(t), w, tc.verdict, tc.reason)
		})
	}
}

// A nil Cache stores nothing, and all its methods can be called.
func TestNilCacheKeepsNothing(t *testing.T) {
	t.Parallel()
	var c *toolcache.Cache
	if !c.Store("a", newEntry(1, "x")) {
		t.Error("what nobody keeps is always new")
	}
	c.Mark("a", toolcache.Empty, "x")
	c.Failed("a", "x")
	c.Configured([]toolcache.Want{newWant("a", 1)})
	c.Watch(func(string) {})()
	wantVerdict(t, c, newWant("a", 1), toolcache.Miss, "no_entry")
	if release, ok := c.Lease(t.Context(), "a"); !ok {
		t.Error("no lease without a cache")
	} else {
		release()
	}
	if got := c.Clear(); got != nil {
		t.Error(got)
	}
	c.Prune(0)
	c.Stats()
	if len(c.Entries()) > 0 || c.Flush(t.Context()) != nil || c.Close() != nil {
		t.Error("a nil cache does something")
	}
}

// A Cache without a path works in memory.
func TestCacheInMemory(t *testing.T) {
	t.Parallel()
	c := toolcache.Open(t.Context(), toolcache.Options{})
	c.Store("a", newEntry(1, "x"))
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	mustFlush(t, c)
	mustClose(t, c)
	mustClose(t, c)
}
