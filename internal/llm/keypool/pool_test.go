package keypool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/llm"
	"collie/internal/llm/keypool"
)

// fixture is a pool without jitter whose clock is moved by hand.
type fixture struct {
	*keypool.Pool
	t   testing.TB
	now time.Time
}

func newFixture(t testing.TB, o keypool.Options, keys ...keypool.Key) *fixture {
	t.Helper()
	b := &fixture{t: t, now: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)}
	if o.Now == nil {
		o.Now = func() time.Time { return b.now }
	}
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 0 }
	}
	b.Pool = keypool.New(o)
	if err := b.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Apply([]keypool.Provider{{Name: "p", Keys: keys}})
	return b
}

func newKeys(labels string) (out []keypool.Key) {
	for _, l := range labels {
		out = append(out, keypool.Key{Label: string(l), Secret: "secret-" + string(l), Weight: 1})
	}
	return out
}

// advance moves the clock of the pool forward.
func (b *fixture) advance(d time.Duration) { b.now = b.now.Add(d) }

// mustLease returns a key for a new request.
func (b *fixture) mustLease(session string) keypool.Lease {
	b.t.Helper()
	l, err := b.ResolveAPIKeyForRequest(b.t.Context(), &keypool.Request{Provider: "p", Model: "m", Session: session})
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// leaseError returns the error for a new request, which must fail.
func (b *fixture) leaseError() *llm.Error {
	b.t.Helper()
	l, err := b.ResolveAPIKeyForRequest(b.t.Context(), &keypool.Request{Provider: "p", Model: "m"})
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		b.t.Fatalf("got %v, %v", l, err)
	}
	return e
}

// markError reports a failure of this class.
func (b *fixture) markError(l keypool.Lease, class llm.Class) keypool.Next {
	return b.MarkKeyError(b.t.Context(), &l, &llm.Error{Class: class})
}

// status returns the status of a key.
func (b *fixture) status(label string) keypool.Status {
	b.t.Helper()
	all := b.List()
	i := slices.IndexFunc(all, func(s keypool.Status) bool { return s.Label == label })
	if i < 0 {
		b.t.Fatalf("no key %s in %v", label, all)
	}
	return all[i]
}

// restLength returns how long a key rests from now on.
func (b *fixture) restLength(label string) time.Duration {
	b.t.Helper()
	s := b.status(label)
	if s.Until.IsZero() {
		return 0
	}
	return s.Until.Sub(b.now)
}

func TestConversationsKeepTheirKey(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("ABC")...)
	first := b.mustLease("s")
	for range 1000 {
		if l := b.mustLease("s"); l.Label != first.Label || !l.Bound {
			t.Fatalf("moved from %v to %v", first, l)
		}
		b.mustLease("") // requests without a conversation use the keys in turn
	}
	if b.markError(b.mustLease("s"), llm.ClassRateLimit) != keypool.OtherKey {
		t.Fatal("a limit does not lead to another key")
	}
	second := b.mustLease("s")
	if second.Label == first.Label {
		t.Fatal("it stays at a key that rests")
	}
	for range 1000 {
		b.advance(time.Minute) // the first key can be used again soon
		if l := b.mustLease("s"); l.Label != second.Label {
			t.Fatalf("moved again, to %v", l)
		}
	}
	b.advance(time.Hour + time.Second)
	if b.mustLease("s").Bound {
		t.Error("a conversation that was silent for an hour is still bound")
	}
}

func TestKeyWithWeightZero(t *testing.T) {
	t.Parallel()
	ks := newKeys("AB")
	b := newFixture(t, keypool.Options{}, ks...)
	b.mustLease("other")
	bound := b.mustLease("s")
	ks[slices.IndexFunc(ks, func(k keypool.Key) bool { return k.Label == bound.Label })].Weight = 0
	b.Apply([]keypool.Provider{{Name: "p", Keys: ks}})
	for range 100 {
		if b.mustLease("").Label == bound.Label {
			t.Fatal("a key of weight 0 begins something")
		}
	}
	if l := b.mustLease("s"); l.Label != bound.Label {
		t.Error("a conversation lost its key because new ones do not get it")
	}
	ks[0].Weight, ks[1].Weight = 0, 0
	b.Apply([]keypool.Provider{{Name: "p", Keys: ks}})
	if e := b.leaseError(); e.Class != llm.ClassNoProvider || !strings.Contains(e.Message, "weight") || !strings.Contains(e.Hint, "collie keys set") {
		t.Errorf("without any weight: %+v", e)
	}
}

func TestRequestTriesEachKeyOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("ABCDEFGH")...)
	r := &keypool.Request{Provider: "p", Model: "m", Session: "s"}
	seen := map[string]bool{}
	for {
		l, err := b.ResolveAPIKeyForRequest(t.Context(), r)
		if err != nil {
			break
		}
		if seen[l.Label] {
			t.Fatalf("%v again", l)
		}
		seen[l.Label] = true
	}
	if len(seen) != keypool.MaxKeys {
		t.Errorf("%d keys were tried", len(seen))
	}
}

func TestRestsDouble(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("A")...)
	for i, want := range []time.Duration{60, 120, 240, 480, 900, 900} {
		b.markError(b.mustLease(""), llm.ClassRateLimit)
		if got := b.restLength("A"); got != want*time.Second {
			t.Errorf("limit %d: %v, want %v", i+1, got, want*time.Second)
		}
		if s := b.status("A"); s.State != keypool.Cooling || s.Why == "" || s.Level != min(i+1, 5) {
			t.Errorf("limit %d: %+v", i+1, s)
		}
		if e := b.leaseError(); e.Class != llm.ClassAllCooling || e.RetryAfter != want*time.Second {
			t.Errorf("limit %d: %+v", i+1, e)
		}
		b.advance(want * time.Second)
	}
	b.MarkKeySuccess(b.mustLease(""))
	b.markError(b.mustLease(""), llm.ClassRateLimit)
	if got := b.restLength("A"); got != time.Minute {
		t.Errorf("after a success: %v", got)
	}
	b.advance(time.Minute)
	b.markError(b.mustLease(""), llm.ClassRateLimit) // level 2
	b.advance(2*time.Minute + 15*time.Minute)
	if s := b.status("A"); s.State != keypool.Active || s.Level != 1 {
		t.Errorf("after quiet minutes: %+v", s)
	}
	b.markError(b.mustLease(""), llm.ClassRateLimit)
	if got := b.restLength("A"); got != 2*time.Minute {
		t.Errorf("a quarter of an hour takes back one step: %v", got)
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{Jitter: func() float64 { return 0.5 }}, newKeys("A")...)
	b.markError(b.mustLease(""), llm.ClassRateLimit)
	if got := b.restLength("A"); got != 63*time.Second {
		t.Errorf("half the jitter: %v", got)
	}
}

// Requests that fail together cause one rest, whatever their number.
func TestBurstCausesOneRest(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("A")...)
	var leases []keypool.Lease
	for range 20 {
		leases = append(leases, b.mustLease(""))
	}
	for _, l := range leases[:19] {
		b.markError(l, llm.ClassRateLimit)
		b.advance(time.Second)
	}
	if s := b.status("A"); s.Level != 1 || b.restLength("A") != 41*time.Second {
		t.Errorf("level %d, %v", s.Level, b.restLength("A"))
	}
	b.MarkKeySuccess(leases[19]) // began before the rest
	if s := b.status("A"); s.State != keypool.Cooling {
		t.Errorf("a late success ends the rest: %+v", s)
	}
	b.advance(time.Minute)
	b.markError(b.mustLease(""), llm.ClassRateLimit)
	if s := b.status("A"); s.Level != 2 {
		t.Errorf("the level did not outlive the rest: %+v", s)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		hint  time.Duration
		want  time.Duration
		state keypool.State
	}{
		"shorter": {5 * time.Second, time.Minute, keypool.Cooling},
		"longer":  {10 * time.Minute, 10 * time.Minute, keypool.Cooling},
		"a day":   {24 * time.Hour, 24 * time.Hour, keypool.Exhausted},
		"past":    {-time.Second, time.Minute, keypool.Cooling},
		"absurd":  {8 * 24 * time.Hour, time.Minute, keypool.Cooling},
	} {
		b := newFixture(t, keypool.Options{}, newKeys("A")...)
		l := b.mustLease("")
		b.MarkKeyError(t.Context(), &l, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: tc.hint})
		if s := b.status("A"); b.restLength("A") != tc.want || s.State != tc.state {
			t.Errorf("%s: %v, %s", name, b.restLength("A"), s.State)
		}
	}
}

// The end of a rest never moves back. If no other key is left, the wait that the provider asks for counts.
func TestProviderWaits(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("A")...)
	one, two, three := b.mustLease(""), b.mustLease(""), b.mustLease("")
	b.MarkKeyError(t.Context(), &one, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: 5 * time.Minute})
	b.MarkKeyError(t.Context(), &two, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: 2 * time.Minute})
	if got := b.restLength("A"); got != 5*time.Minute {
		t.Errorf("a shorter one counts: %v", got)
	}
	b.MarkKeyError(t.Context(), &three, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: 9 * time.Minute})
	if got := b.restLength("A"); got != 9*time.Minute {
		t.Errorf("a longer one does not count: %v", got)
	}

	b = newFixture(t, keypool.Options{}, newKeys("A")...)
	l := b.mustLease("")
	b.MarkKeyError(t.Context(), &l, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: 3 * time.Second})
	if e := b.leaseError(); e.RetryAfter != 3*time.Second {
		t.Errorf("the wait is %v", e.RetryAfter)
	}
	b.advance(3 * time.Second)
	b.MarkKeySuccess(b.mustLease(""))
	if s := b.status("A"); s.State != keypool.Active || s.Level != 0 {
		t.Errorf("after it: %+v", s)
	}
}

// After a rest one request probes the key, and the others use other keys until it is answered.
func TestProbeAfterRest(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("AB")...)
	b.markError(b.mustLease(""), llm.ClassRateLimit)
	rested := "A"
	b.advance(time.Minute)
	var probe keypool.Lease
	for probe.Label != rested {
		probe = b.mustLease("")
	}
	for range 50 {
		if b.mustLease("").Label == rested {
			t.Fatal("a second request tries the key")
		}
	}
	b.MarkKeySuccess(probe)
	var again keypool.Lease
	for range 2 {
		if l := b.mustLease(""); l.Label == rested {
			again = l
		}
	}
	if again.Label == "" {
		t.Fatal("the key is not used after it has answered")
	}
	// A probe without an outcome ends too.
	b.markError(again, llm.ClassRateLimit)
	b.advance(time.Minute)
	for probe = b.mustLease(""); probe.Label != rested; probe = b.mustLease("") {
		continue
	}
	b.advance(10 * time.Second)
	for range 2 {
		if b.mustLease("").Label == rested {
			return
		}
	}
	t.Error("a request without an end keeps the key from all others")
}

func TestLimitOfOneModel(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("A")...)
	l := b.mustLease("")
	b.MarkKeyError(t.Context(), &l, &llm.Error{Class: llm.ClassRateLimit, Scoped: true, Message: "limit of m"})
	if e := b.leaseError(); e.Class != llm.ClassAllCooling || e.RetryAfter != time.Minute {
		t.Errorf("the model: %+v", e)
	}
	if _, err := b.ResolveAPIKeyForRequest(t.Context(), &keypool.Request{Provider: "p", Model: "other"}); err != nil {
		t.Errorf("another model: %v", err)
	}
	s := b.status("A")
	if s.State != keypool.Active || len(s.Models) != 1 || s.Models[0].Model != "m" || s.Models[0].Why != "limit of m" {
		t.Errorf("%+v", s)
	}
	b.advance(time.Minute)
	b.MarkKeySuccess(b.mustLease(""))
	if s := b.status("A"); len(s.Models) != 0 {
		t.Errorf("after a success: %+v", s)
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("A")...)
	for i, want := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour} {
		if next := b.markError(b.mustLease(""), llm.ClassQuota); next != keypool.OtherKey {
			t.Fatal(next)
		}
		if s := b.status("A"); s.State != keypool.Exhausted || b.restLength("A") != want {
			t.Errorf("time %d: %s for %v", i+1, s.State, b.restLength("A"))
		}
		b.advance(want)
	}
	b.markError(b.mustLease(""), llm.ClassQuota)
	if n := b.Reset("p", "A"); n != 1 {
		t.Fatalf("%d keys were reset", n)
	}
	b.MarkKeySuccess(b.mustLease(""))
}

func TestCredential(t *testing.T) {
	t.Parallel()
	secret := "old"
	reads := 0
	o := keypool.Options{Secret: func(context.Context, string) (string, error) { reads++; return secret, nil }}
	b := newFixture(t, o, newKeys("A")...)
	l := b.mustLease("")
	secret = "rotated"
	if next := b.MarkKeyError(t.Context(), &l, &llm.Error{Class: llm.ClassCredential}); next != keypool.SameKey || l.Reveal() != "rotated" {
		t.Fatalf("a secret that was rotated: %s with %q", next, l.Reveal())
	}
	if next := b.MarkKeyError(t.Context(), &l, &llm.Error{Class: llm.ClassCredential, Status: 401, Message: "bad key"}); next != keypool.OtherKey {
		t.Fatalf("one that stays wrong: %s", next)
	}
	if s := b.status("A"); s.State != keypool.Invalid || s.Why != "401 bad key" {
		t.Errorf("%+v", s)
	}
	reads = 0
	b.advance(1000 * time.Hour)
	for range 10 {
		if e := b.leaseError(); e.Class != llm.ClassCredential || !strings.Contains(e.Message, "bad key") || !strings.Contains(e.Hint, "collie keys set p LABEL") {
			t.Fatalf("%+v", e)
		}
	}
	if reads != 1 {
		t.Errorf("the secret was read %d times within a minute", reads)
	}
	b.Apply([]keypool.Provider{{Name: "p", Keys: newKeys("A")}}) // the same settings were applied again
	if e := b.leaseError(); e.Class != llm.ClassCredential {
		t.Errorf("the same secret, read again: %+v", e)
	}
	secret = "third"
	b.advance(time.Minute)
	if l := b.mustLease(""); l.Reveal() != "third" {
		t.Error("another secret is not tried")
	}
}

func TestUnreadableSecret(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{Secret: func(_ context.Context, ref string) (string, error) {
		if ref == "secret-A" {
			return "", errors.New("OPENAI_API_KEY is not set")
		}
		return ref, nil
	}}, newKeys("AB")...)
	for range 4 {
		if l := b.mustLease(""); l.Label != "B" || l.Reveal() != "secret-B" {
			t.Fatalf("%v", l)
		}
	}
	if s := b.status("A"); s.State != keypool.Invalid || s.Why != "OPENAI_API_KEY is not set" {
		t.Errorf("%+v", s)
	}
}

func TestPermission(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("A")...)
	for i, model := range []string{"m", "n", "o"} {
		l, err := b.ResolveAPIKeyForRequest(t.Context(), &keypool.Request{Provider: "p", Model: model})
		if err != nil {
			t.Fatal(err)
		}
		b.markError(l, llm.ClassPermission)
		if s := b.status("A"); (s.State == keypool.Invalid) != (i == 2) {
			t.Errorf("after %d models: %s", i+1, s.State)
		}
	}
	b = newFixture(t, keypool.Options{}, newKeys("A")...)
	b.markError(b.mustLease(""), llm.ClassModelAccess)
	if e := b.leaseError(); e.Class != llm.ClassModelAccess {
		t.Errorf("%+v", e)
	}
	b.advance(10 * time.Minute)
	b.mustLease("")
}

// For each class of failure: the state of the key, and what to do next.
func TestClasses(t *testing.T) {
	t.Parallel()
	for class, want := range map[llm.Class]struct {
		next  keypool.Next
		state keypool.State
	}{
		llm.ClassRateLimit: {keypool.OtherKey, keypool.Cooling}, llm.ClassOverloaded: {keypool.OtherKey, keypool.Cooling},
		llm.ClassQuota: {keypool.OtherKey, keypool.Exhausted}, llm.ClassCredential: {keypool.OtherKey, keypool.Invalid},
		llm.ClassPermission: {keypool.OtherKey, keypool.Active}, llm.ClassModelAccess: {keypool.OtherKey, keypool.Active},
		llm.ClassTransient: {keypool.SameKey, keypool.Active}, llm.ClassRegion: {keypool.OtherKey, keypool.Active},
		llm.ClassCaller: {keypool.Stop, keypool.Active}, llm.ClassContext: {keypool.Stop, keypool.Active},
		llm.ClassNoTools: {keypool.Stop, keypool.Active}, llm.ClassCanceled: {keypool.Stop, keypool.Active},
		llm.ClassUnknown: {keypool.Stop, keypool.Active},
	} {
		b := newFixture(t, keypool.Options{}, newKeys("A")...)
		next := b.markError(b.mustLease(""), class)
		if s := b.status("A"); next != want.next || s.State != want.state {
			t.Errorf("%s: %s, %s; want %s, %s", class, next, s.State, want.next, want.state)
		}
	}
}

func TestOverloadedProvider(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, newKeys("ABC")...)
	first, second, third := b.mustLease(""), b.mustLease(""), b.mustLease("")
	if next := b.markError(first, llm.ClassOverloaded); next != keypool.OtherKey || b.status("A").State != keypool.Cooling {
		t.Fatalf("one key: %s", next)
	}
	b.advance(9 * time.Second)
	if next := b.markError(second, llm.ClassOverloaded); next != keypool.Overload {
		t.Fatalf("two keys: %s", next)
	}
	b.advance(9 * time.Second)
	if next := b.markError(third, llm.ClassOverloaded); next != keypool.Overload {
		t.Fatalf("three keys: %s", next)
	}
	for _, s := range b.List() {
		if s.State != keypool.Active || s.Level != 0 {
			t.Errorf("%s rests for what is the provider's: %+v", s.Label, s)
		}
	}
	if b.Overloaded("p", "m") != 10*time.Second || b.Overloaded("p", "n") != 0 {
		t.Errorf("overloaded for %v", b.Overloaded("p", "m"))
	}
	b.MarkKeySuccess(b.mustLease(""))
	if b.Overloaded("p", "m") != 0 {
		t.Error("still overloaded after an answer")
	}
	// Two keys that fail further apart do not make the provider count as overloaded.
	b.markError(b.mustLease(""), llm.ClassOverloaded)
	b.advance(10 * time.Second)
	if next := b.markError(b.mustLease(""), llm.ClassOverloaded); next != keypool.OtherKey {
		t.Errorf("10 s later: %s", next)
	}
}

func TestModelPatterns(t *testing.T) {
	t.Parallel()
	ks := newKeys("AB")
	ks[0].Models = []string{"gpt-*", "o1"}
	b := newFixture(t, keypool.Options{}, ks...)
	for range 10 {
		if b.mustLease("").Label != "B" {
			t.Fatal("a key is used for a model that it is not for")
		}
	}
	ks[1].Models = []string{"other"}
	b.Apply([]keypool.Provider{{Name: "p", Keys: ks}})
	if e := b.leaseError(); e.Class != llm.ClassModelAccess || !e.Scoped {
		t.Errorf("%+v", e)
	}
}

func TestProviderWithoutKeys(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{Secret: func(context.Context, string) (string, error) {
		return "", errors.New("nothing to read")
	}})
	l := b.mustLease("s")
	if l.Reveal() != "" || l.Label != "" {
		t.Errorf("%v", l)
	}
	b.markError(l, llm.ClassRateLimit)
	if e := b.leaseError(); e.Class != llm.ClassAllCooling {
		t.Errorf("%+v", e)
	}
	if _, err := b.ResolveAPIKeyForRequest(t.Context(), &keypool.Request{Provider: "q"}); err == nil {
		t.Error("an unknown provider has a key")
	}
}

func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	ks := newKeys("ABC")
	ks[0].Weight, ks[1].Weight = 5, 2
	b := newFixture(t, keypool.Options{}, ks...)
	const each = 10_000
	counts := make([]map[string]int, 64)
	var all sync.WaitGroup
	for i := range counts {
		counts[i] = map[string]int{}
		all.Go(func() {
			r := keypool.Request{Provider: "p", Model: "m"}
			for range each {
				r = keypool.Request{Provider: "p", Model: "m"}
				l, err := b.ResolveAPIKeyForRequest(t.Context(), &r)
				if err != nil {
					t.Error(err)
					return
				}
				counts[i][l.Label]++
			}
		})
	}
	all.Wait()
	sum := map[string]int{}
	for _, c := range counts {
		for label, n := range c {
			sum[label] += n
		}
	}
	if want := 64 * each / 8; sum["A"] != 5*want || sum["B"] != 2*want || sum["C"] != want {
		t.Errorf("%v", sum)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	b := newFixture(t, keypool.Options{}, keypool.Key{Label: "A", Secret: "canary-geheim", Weight: 1})
	l := b.mustLease("s")
	b.markError(l, llm.ClassCredential)
	text := fmt.Sprintf("%v %+v %#v %s %q %+v %v", l, l, l, l, l, b.List(), b.leaseError())
	if strings.Contains(text, "geheim") {
		t.Error(text)
	}
}

func TestPickDoesNotAllocate(t *testing.T) {
	b := newFixture(t, keypool.Options{}, newKeys("ABCDEFGHIJKLMNOP")...)
	for name, session := range map[string]string{"a turn": "", "a conversation": "0198f3a0-7b6e-7c11-9f4e-2f4bd1f0c0aa"} {
		b.mustLease(session)
		for range 32 {
			b.mustLease("")
		}
		ctx := t.Context()
		if n := testing.AllocsPerRun(1000, func() {
			r := keypool.Request{Provider: "p", Model: "m", Session: session}
			if _, err := b.ResolveAPIKeyForRequest(ctx, &r); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// BenchmarkPick measures a pick. Its last case is the lower bound: an uncontended mutex and a map lookup.
func BenchmarkPick(b *testing.B) {
	for _, n := range []int{1, 4, 16, 64} {
		for _, session := range []string{"", "0198f3a0-7b6e-7c11-9f4e-2f4bd1f0c0aa"} {
			name := fmt.Sprintf("keys=%d", n)
			if session != "" {
				name += ",bound"
			}
			b.Run(name, func(b *testing.B) {
				var ks []keypool.Key
				for i := range n {
					ks = append(ks, keypool.Key{Label: fmt.Sprint(i), Secret: "s", Weight: i%5 + 1})
				}
				p := keypool.New(keypool.Options{})
				p.Apply([]keypool.Provider{{Name: "p", Keys: ks}})
				ctx := b.Context()
				for range 500 { // reads all secrets
					if _, err := p.ResolveAPIKeyForRequest(ctx, &keypool.Request{Provider: "p", Model: "m"}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					r := keypool.Request{Provider: "p", Model: "m", Session: session}
					if _, err := p.ResolveAPIKeyForRequest(ctx, &r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("floor", func(b *testing.B) {
		var mu sync.Mutex
		found, name := map[string]*int{"p": new(int), "q": new(int)}, "p"
		for b.Loop() {
			mu.Lock()
			*found[name]++
			mu.Unlock()
		}
	})
}
