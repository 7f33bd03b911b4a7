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

// bench is a pool with a clock that is moved by hand and no jitter.
type bench struct {
	*keypool.Pool
	t   testing.TB
	now time.Time
}

func newBench(t testing.TB, o keypool.Options, keys ...keypool.Key) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)}
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

func keys(labels string) (out []keypool.Key) {
	for _, l := range labels {
		out = append(out, keypool.Key{Label: string(l), Secret: "secret-" + string(l), Weight: 1})
	}
	return out
}

func (b *bench) wait(d time.Duration) { b.now = b.now.Add(d) }

// take is the key of a new request.
func (b *bench) take(session string) keypool.Lease {
	b.t.Helper()
	l, err := b.ResolveAPIKeyForRequest(b.t.Context(), &keypool.Request{Provider: "p", Model: "m", Session: session})
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// none is the error of a new request.
func (b *bench) none() *llm.Error {
	b.t.Helper()
	l, err := b.ResolveAPIKeyForRequest(b.t.Context(), &keypool.Request{Provider: "p", Model: "m"})
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		b.t.Fatalf("got %v, %v", l, err)
	}
	return e
}

func (b *bench) fail(l keypool.Lease, class llm.Class) keypool.Next {
	return b.MarkKeyError(b.t.Context(), &l, &llm.Error{Class: class})
}

func (b *bench) status(label string) keypool.Status {
	b.t.Helper()
	all := b.List()
	i := slices.IndexFunc(all, func(s keypool.Status) bool { return s.Label == label })
	if i < 0 {
		b.t.Fatalf("no key %s in %v", label, all)
	}
	return all[i]
}

// rests is how long a key rests from now on.
func (b *bench) rests(label string) time.Duration {
	b.t.Helper()
	s := b.status(label)
	if s.Until.IsZero() {
		return 0
	}
	return s.Until.Sub(b.now)
}

func TestConversationsKeepTheirKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("ABC")...)
	first := b.take("s")
	for range 1000 {
		if l := b.take("s"); l.Label != first.Label || !l.Bound {
			t.Fatalf("moved from %v to %v", first, l)
		}
		b.take("") // others take turns
	}
	if b.fail(b.take("s"), llm.ClassRateLimit) != keypool.OtherKey {
		t.Fatal("a limit does not lead to another key")
	}
	second := b.take("s")
	if second.Label == first.Label {
		t.Fatal("it stays at a key that rests")
	}
	for range 1000 {
		b.wait(time.Minute) // the first key is back soon
		if l := b.take("s"); l.Label != second.Label {
			t.Fatalf("moved again, to %v", l)
		}
	}
	b.wait(time.Hour + time.Second)
	if b.take("s").Bound {
		t.Error("a conversation that was silent for an hour is still bound")
	}
}

func TestWeightNothing(t *testing.T) {
	t.Parallel()
	ks := keys("AB")
	b := newBench(t, keypool.Options{}, ks...)
	b.take("other")
	bound := b.take("s")
	ks[slices.IndexFunc(ks, func(k keypool.Key) bool { return k.Label == bound.Label })].Weight = 0
	b.Apply([]keypool.Provider{{Name: "p", Keys: ks}})
	for range 100 {
		if b.take("").Label == bound.Label {
			t.Fatal("a key of weight 0 begins something")
		}
	}
	if l := b.take("s"); l.Label != bound.Label {
		t.Error("a conversation lost its key because new ones do not get it")
	}
	ks[0].Weight, ks[1].Weight = 0, 0
	b.Apply([]keypool.Provider{{Name: "p", Keys: ks}})
	if e := b.none(); e.Class != llm.ClassNoProvider || !strings.Contains(e.Message, "weight") || !strings.Contains(e.Hint, "collie keys set") {
		t.Errorf("without any weight: %+v", e)
	}
}

func TestNoKeyTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("ABCDEFGH")...)
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

func TestLadder(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("A")...)
	for i, want := range []time.Duration{60, 120, 240, 480, 900, 900} {
		b.fail(b.take(""), llm.ClassRateLimit)
		if got := b.rests("A"); got != want*time.Second {
			t.Errorf("limit %d: %v, want %v", i+1, got, want*time.Second)
		}
		if s := b.status("A"); s.State != keypool.Cooling || s.Why == "" || s.Level != min(i+1, 5) {
			t.Errorf("limit %d: %+v", i+1, s)
		}
		if e := b.none(); e.Class != llm.ClassAllCooling || e.RetryAfter != want*time.Second {
			t.Errorf("limit %d: %+v", i+1, e)
		}
		b.wait(want * time.Second)
	}
	b.MarkKeySuccess(b.take(""))
	b.fail(b.take(""), llm.ClassRateLimit)
	if got := b.rests("A"); got != time.Minute {
		t.Errorf("after a success: %v", got)
	}
	b.wait(time.Minute)
	b.fail(b.take(""), llm.ClassRateLimit) // level 2
	b.wait(2*time.Minute + 15*time.Minute)
	if s := b.status("A"); s.State != keypool.Active || s.Level != 1 {
		t.Errorf("after quiet minutes: %+v", s)
	}
	b.fail(b.take(""), llm.ClassRateLimit)
	if got := b.rests("A"); got != 2*time.Minute {
		t.Errorf("a quarter of an hour takes back one step: %v", got)
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{Jitter: func() float64 { return 0.5 }}, keys("A")...)
	b.fail(b.take(""), llm.ClassRateLimit)
	if got := b.rests("A"); got != 63*time.Second {
		t.Errorf("half the jitter: %v", got)
	}
}

// Requests that fail together are one episode, whatever their number.
func TestOneStepAnEpisode(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("A")...)
	var leases []keypool.Lease
	for range 20 {
		leases = append(leases, b.take(""))
	}
	for _, l := range leases[:19] {
		b.fail(l, llm.ClassRateLimit)
		b.wait(time.Second)
	}
	if s := b.status("A"); s.Level != 1 || b.rests("A") != 41*time.Second {
		t.Errorf("level %d, %v", s.Level, b.rests("A"))
	}
	b.MarkKeySuccess(leases[19]) // began before the rest
	if s := b.status("A"); s.State != keypool.Cooling {
		t.Errorf("a late success ends the rest: %+v", s)
	}
	b.wait(time.Minute)
	b.fail(b.take(""), llm.ClassRateLimit)
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
		b := newBench(t, keypool.Options{}, keys("A")...)
		l := b.take("")
		b.MarkKeyError(t.Context(), &l, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: tc.hint})
		if s := b.status("A"); b.rests("A") != tc.want || s.State != tc.state {
			t.Errorf("%s: %v, %s", name, b.rests("A"), s.State)
		}
	}
}

// The end of a rest moves forward only, and what the provider said is waited for where no other key is left.
func TestHints(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("A")...)
	one, two, three := b.take(""), b.take(""), b.take("")
	b.MarkKeyError(t.Context(), &one, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: 5 * time.Minute})
	b.MarkKeyError(t.Context(), &two, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: 2 * time.Minute})
	if got := b.rests("A"); got != 5*time.Minute {
		t.Errorf("a shorter one counts: %v", got)
	}
	b.MarkKeyError(t.Context(), &three, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: 9 * time.Minute})
	if got := b.rests("A"); got != 9*time.Minute {
		t.Errorf("a longer one does not count: %v", got)
	}

	b = newBench(t, keypool.Options{}, keys("A")...)
	l := b.take("")
	b.MarkKeyError(t.Context(), &l, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: 3 * time.Second})
	if e := b.none(); e.RetryAfter != 3*time.Second {
		t.Errorf("the wait is %v", e.RetryAfter)
	}
	b.wait(3 * time.Second)
	b.MarkKeySuccess(b.take(""))
	if s := b.status("A"); s.State != keypool.Active || s.Level != 0 {
		t.Errorf("after it: %+v", s)
	}
}

// After a rest one request tries the key, and the others use other keys until it is answered.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("AB")...)
	b.fail(b.take(""), llm.ClassRateLimit)
	rested := "A"
	b.wait(time.Minute)
	var probe keypool.Lease
	for probe.Label != rested {
		probe = b.take("")
	}
	for range 50 {
		if b.take("").Label == rested {
			t.Fatal("a second request tries the key")
		}
	}
	b.MarkKeySuccess(probe)
	var again keypool.Lease
	for range 2 {
		if l := b.take(""); l.Label == rested {
			again = l
		}
	}
	if again.Label == "" {
		t.Fatal("the key is not used after it has answered")
	}
	// A trial of which nothing is heard ends as well.
	b.fail(again, llm.ClassRateLimit)
	b.wait(time.Minute)
	for probe = b.take(""); probe.Label != rested; probe = b.take("") {
		continue
	}
	b.wait(10 * time.Second)
	for range 2 {
		if b.take("").Label == rested {
			return
		}
	}
	t.Error("a request without an end keeps the key from all others")
}

func TestScopeOfALimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("A")...)
	l := b.take("")
	b.MarkKeyError(t.Context(), &l, &llm.Error{Class: llm.ClassRateLimit, Scoped: true, Message: "limit of m"})
	if e := b.none(); e.Class != llm.ClassAllCooling || e.RetryAfter != time.Minute {
		t.Errorf("the model: %+v", e)
	}
	if _, err := b.ResolveAPIKeyForRequest(t.Context(), &keypool.Request{Provider: "p", Model: "other"}); err != nil {
		t.Errorf("another model: %v", err)
	}
	s := b.status("A")
	if s.State != keypool.Active || len(s.Models) != 1 || s.Models[0].Model != "m" || s.Models[0].Why != "limit of m" {
		t.Errorf("%+v", s)
	}
	b.wait(time.Minute)
	b.MarkKeySuccess(b.take(""))
	if s := b.status("A"); len(s.Models) != 0 {
		t.Errorf("after a success: %+v", s)
	}
}

func TestExhausted(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("A")...)
	for i, want := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour} {
		if next := b.fail(b.take(""), llm.ClassQuota); next != keypool.OtherKey {
			t.Fatal(next)
		}
		if s := b.status("A"); s.State != keypool.Exhausted || b.rests("A") != want {
			t.Errorf("time %d: %s for %v", i+1, s.State, b.rests("A"))
		}
		b.wait(want)
	}
	b.fail(b.take(""), llm.ClassQuota)
	if n := b.Reset("p", "A"); n != 1 {
		t.Fatalf("%d keys were reset", n)
	}
	b.MarkKeySuccess(b.take(""))
}

func TestCredential(t *testing.T) {
	t.Parallel()
	secret := "old"
	reads := 0
	o := keypool.Options{Secret: func(context.Context, string) (string, error) { reads++; return secret, nil }}
	b := newBench(t, o, keys("A")...)
	l := b.take("")
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
	b.wait(1000 * time.Hour)
	for range 10 {
		if e := b.none(); e.Class != llm.ClassCredential || !strings.Contains(e.Message, "bad key") || !strings.Contains(e.Hint, "collie keys set p LABEL") {
			t.Fatalf("%+v", e)
		}
	}
	if reads != 1 {
		t.Errorf("the secret was read %d times within a minute", reads)
	}
	b.Apply([]keypool.Provider{{Name: "p", Keys: keys("A")}}) // the settings were read again, and it is the same
	if e := b.none(); e.Class != llm.ClassCredential {
		t.Errorf("the same secret, read again: %+v", e)
	}
	secret = "third"
	b.wait(time.Minute)
	if l := b.take(""); l.Reveal() != "third" {
		t.Error("another secret is not tried")
	}
}

func TestSecretThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{Secret: func(_ context.Context, ref string) (string, error) {
		if ref == "secret-A" {
			return "", errors.New("OPENAI_API_KEY is not set")
		}
		return ref, nil
	}}, keys("AB")...)
	for range 4 {
		if l := b.take(""); l.Label != "B" || l.Reveal() != "secret-B" {
			t.Fatalf("%v", l)
		}
	}
	if s := b.status("A"); s.State != keypool.Invalid || s.Why != "OPENAI_API_KEY is not set" {
		t.Errorf("%+v", s)
	}
}

func TestPermission(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("A")...)
	for i, model := range []string{"m", "n", "o"} {
		l, err := b.ResolveAPIKeyForRequest(t.Context(), &keypool.Request{Provider: "p", Model: model})
		if err != nil {
			t.Fatal(err)
		}
		b.fail(l, llm.ClassPermission)
		if s := b.status("A"); (s.State == keypool.Invalid) != (i == 2) {
			t.Errorf("after %d models: %s", i+1, s.State)
		}
	}
	b = newBench(t, keypool.Options{}, keys("A")...)
	b.fail(b.take(""), llm.ClassModelAccess)
	if e := b.none(); e.Class != llm.ClassModelAccess {
		t.Errorf("%+v", e)
	}
	b.wait(10 * time.Minute)
	b.take("")
}

// Of every class: what becomes of the key, and what is done next.
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
		b := newBench(t, keypool.Options{}, keys("A")...)
		next := b.fail(b.take(""), class)
		if s := b.status("A"); next != want.next || s.State != want.state {
			t.Errorf("%s: %s, %s; want %s, %s", class, next, s.State, want.next, want.state)
		}
	}
}

func TestOverloadedProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{}, keys("ABC")...)
	first, second, third := b.take(""), b.take(""), b.take("")
	if next := b.fail(first, llm.ClassOverloaded); next != keypool.OtherKey || b.status("A").State != keypool.Cooling {
		t.Fatalf("one key: %s", next)
	}
	b.wait(9 * time.Second)
	if next := b.fail(second, llm.ClassOverloaded); next != keypool.Overload {
		t.Fatalf("two keys: %s", next)
	}
	b.wait(9 * time.Second)
	if next := b.fail(third, llm.ClassOverloaded); next != keypool.Overload {
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
	b.MarkKeySuccess(b.take(""))
	if b.Overloaded("p", "m") != 0 {
		t.Error("still overloaded after an answer")
	}
	// Keys that fail further apart are two failures.
	b.fail(b.take(""), llm.ClassOverloaded)
	b.wait(10 * time.Second)
	if next := b.fail(b.take(""), llm.ClassOverloaded); next != keypool.OtherKey {
		t.Errorf("10 s later: %s", next)
	}
}

func TestModelsOfAKey(t *testing.T) {
	t.Parallel()
	ks := keys("AB")
	ks[0].Models = []string{"gpt-*", "o1"}
	b := newBench(t, keypool.Options{}, ks...)
	for range 10 {
		if b.take("").Label != "B" {
			t.Fatal("a key is used for a model that it is not for")
		}
	}
	ks[1].Models = []string{"other"}
	b.Apply([]keypool.Provider{{Name: "p", Keys: ks}})
	if e := b.none(); e.Class != llm.ClassModelAccess || !e.Scoped {
		t.Errorf("%+v", e)
	}
}

func TestProviderWithoutKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t, keypool.Options{Secret: func(context.Context, string) (string, error) {
		return "", errors.New("nothing to read")
	}})
	l := b.take("s")
	if l.Reveal() != "" || l.Label != "" {
		t.Errorf("%v", l)
	}
	b.fail(l, llm.ClassRateLimit)
	if e := b.none(); e.Class != llm.ClassAllCooling {
		t.Errorf("%+v", e)
	}
	if _, err := b.ResolveAPIKeyForRequest(t.Context(), &keypool.Request{Provider: "q"}); err == nil {
		t.Error("an unknown provider has a key")
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	ks := keys("ABC")
	ks[0].Weight, ks[1].Weight = 5, 2
	b := newBench(t, keypool.Options{}, ks...)
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
	b := newBench(t, keypool.Options{}, keypool.Key{Label: "A", Secret: "canary-geheim", Weight: 1})
	l := b.take("s")
	b.fail(l, llm.ClassCredential)
	text := fmt.Sprintf("%v %+v %#v %s %q %+v %v", l, l, l, l, l, b.List(), b.none())
	if strings.Contains(text, "geheim") {
		t.Error(text)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	b := newBench(t, keypool.Options{}, keys("ABCDEFGHIJKLMNOP")...)
	for name, session := range map[string]string{"a turn": "", "a conversation": "0198f3a0-7b6e-7c11-9f4e-2f4bd1f0c0aa"} {
		b.take(session)
		for range 32 {
			b.take("")
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

// BenchmarkPick has the floor of a pick as its last line: a free mutex, and a provider found by its name.
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
