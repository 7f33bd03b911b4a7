package mascot_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"collie/internal/event"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/siyuan/mascot"
	"collie/internal/tool"
	"collie/test/await"
)

// namedSource is a source that is only asked for its name.
type namedSource string

func (n namedSource) Name() string                                           { return string(n) }
func (namedSource) Offer() *tool.Offer                                       { return &tool.Offer{} }
func (namedSource) Watch(func(tool.Change)) (stop func())                    { return func() {} }
func (namedSource) Run(context.Context, *tool.Call) (r tool.Result, _ error) { return r, nil }

// endedCall returns the event of a call of a SiYuan tool that has ended.
func endedCall(name, action string, outcome tool.Outcome) tool.CallDone {
	return tool.CallDone{
		Call:    &tool.Call{Request: tool.Request{Kind: tool.KindCall}, Tool: name, Action: &tool.Action{Name: action}, Source: namedSource("siyuan")},
		Outcome: outcome,
	}
}

type bus = event.Bus[tool.CallDone]

// openPurse opens a purse, which the end of the test closes.
func openPurse(t testing.TB, dir string, b *bus, opts mascot.PurseOptions) *mascot.Purse {
	t.Helper()
	p, err := mascot.OpenPurse(dir, b, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// readPurse returns the coins in a folder, whose purses must be closed.
func readPurse(t testing.TB, dir string) (balance, earned int64) {
	t.Helper()
	p := openPurse(t, dir, &bus{}, mascot.PurseOptions{})
	w, err := p.Wallet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w.Balance, w.Earned
}

// TestPurseEarns: one coin for each successful call of any tool but the mascot's own, none for anything else.
func TestPurseEarns(t *testing.T) {
	t.Parallel()
	dir, b := t.TempDir(), &bus{}
	p := openPurse(t, dir, b, mascot.PurseOptions{Every: time.Hour})
	b.Publish(endedCall("fs", "read", tool.OK))
	b.Publish(endedCall("block", "append", tool.OK))
	for _, outcome := range []tool.Outcome{tool.Failed, tool.Refused, tool.Cancelled, tool.NotKnown} {
		b.Publish(endedCall("fs", "read", outcome))
	}
	b.Publish(endedCall("mascot", "buy", tool.OK))
	other := endedCall("fs", "read", tool.OK)
	other.Call.Source = namedSource("files")
	b.Publish(other)
	for _, change := range []func(*tool.Call){
		func(c *tool.Call) { c.Kind = tool.KindRead }, func(c *tool.Call) { c.Action = nil }, func(c *tool.Call) { c.Source = nil },
	} {
		d := endedCall("fs", "read", tool.OK)
		change(d.Call)
		b.Publish(d)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := openPurse(t, dir, &bus{}, mascot.PurseOptions{}).Wallet(t.Context())
	if err != nil || w.Balance != 3 || w.Earned != 3 || w.Today != 7 || w.LastAction != "fs/read" {
		t.Errorf("%+v %v; want 3 coins and 7 calls", w, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "mascot.json"))
	if err != nil || gjson.GetBytes(raw, "lastAction").Str != "fs/read" || gjson.GetBytes(raw, "updatedAt").Int() == 0 {
		t.Errorf("%s %v", raw, err)
	}
}

// TestParallelCallsLoseNoCoin makes 50 calls at a time with two purses on one folder, as two
// processes would have them, while coins are spent.
func TestParallelCallsLoseNoCoin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var buses [2]*bus
	var purses [2]*mascot.Purse
	for i := range purses {
		buses[i] = &bus{}
		purses[i] = openPurse(t, dir, buses[i], mascot.PurseOptions{Every: time.Millisecond})
	}
	const calls, rounds, cost = 50, 4, 3
	var spent int64
	var mu sync.Mutex
	for range rounds {
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() { buses[i%2].Publish(endedCall("fs", "read", tool.OK)) })
		}
		for i := range 4 {
			wg.Go(func() {
				w, err := purses[i%2].Spend(t.Context(), "milk", cost)
				if err == nil {
					mu.Lock()
					spent += cost
					mu.Unlock()
				} else if tool.KindOf(err) != tool.Conflicting {
					t.Error(err)
				}
				if w.Balance < 0 {
					t.Errorf("balance %d", w.Balance)
				}
			})
		}
		wg.Wait()
	}
	for _, p := range purses {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	balance, earned := readPurse(t, dir)
	if earned != calls*rounds || balance != earned-spent {
		t.Errorf("%d coins, %d ever, %d spent; want %d ever", balance, earned, spent, calls*rounds)
	}
	if spent == 0 {
		t.Error("nothing was spent, so nothing was tried")
	}
}

func TestSpendNeverGoesBelowZero(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, b := filepath.Join(t.TempDir(), "x"), &bus{}
		p, err := mascot.OpenPurse(dir, b, mascot.PurseOptions{Every: time.Hour})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = p.Close() }()
		earn := rapid.IntRange(0, 20).Draw(rt, "earned")
		for range earn {
			b.Publish(endedCall("fs", "ls", tool.OK))
		}
		if err := p.Close(); err != nil { // everything is in the file
			rt.Fatal(err)
		}
		want := int64(earn)
		for _, cost := range rapid.SliceOfN(rapid.Int64Range(0, 9), 0, 10).Draw(rt, "costs") {
			w, err := p.Spend(t.Context(), "milk", cost)
			switch {
			case cost > want && tool.KindOf(err) != tool.Conflicting:
				rt.Fatalf("bought for %d with %d: %v", cost, want, err)
			case cost > want:
				continue
			case err != nil:
				rt.Fatal(err)
			}
			if want -= cost; w.Balance != want || w.Earned != int64(earn) {
				rt.Fatalf("%d left of %d, want %d of %d", w.Balance, w.Earned, want, earn)
			}
		}
		if w, err := p.Wallet(t.Context()); err != nil || w.Balance != want {
			rt.Fatalf("%+v %v, want %d", w, err, want)
		}
	})
}

// TestOldFiles: a purse reads files of older versions and of the public plugin, and damaged ones.
func TestOldFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ balance, earned int64 }{
		`{"totalCalls":12,"balance":7,"updatedAt":1700000000000,"lastAction":"fs/read"}`: {7, 12},
		`{"totalCalls":12}`:                   {12, 12},
		`{"totalCalls":12,"balance":null}`:    {12, 12},
		`{"totalCalls":12,"balance":-5}`:      {0, 12},
		`{"totalCalls":-12}`:                  {0, 0},
		`{"totalCalls":12.9,"balance":7.5}`:   {7, 12},
		`{"totalCalls":"12","balance":"7"}`:   {0, 0},
		`{"totalCalls":3,"balance":1e300}`:    {1 << 52, 3},
		`{"totalCalls":1e300,"balance":9e18}`: {1 << 52, 1 << 52},
		`{}`:                                  {0, 0}, `[]`: {0, 0}, `null`: {0, 0}, ``: {0, 0}, `{"totalCalls":`: {0, 0}, "\x00\xff": {0, 0},
		`[{"totalCalls":9}]`: {0, 0},
	}
	for old, want := range tests {
		dir := t.TempDir()
		path := filepath.Join(dir, "mascot.json")
		if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		b := &bus{}
		p := openPurse(t, dir, b, mascot.PurseOptions{Every: time.Hour})
		w, err := p.Wallet(t.Context())
		if err != nil || w.Balance != want.balance || w.Earned != want.earned {
			t.Errorf("%s: %d of %d (%v), want %v", old, w.Balance, w.Earned, err, want)
		}
		if raw, _ := os.ReadFile(path); string(raw) != old {
			t.Errorf("a look at the balance changed %s to %s", old, raw)
		}
		b.Publish(endedCall("fs", "ls", tool.OK))
		if err := p.Close(); err != nil {
			t.Errorf("%s: %v", old, err)
		}
		balance, earned := readPurse(t, dir)
		if balance != min(want.balance+1, 1<<52) || earned != min(want.earned+1, 1<<52) {
			t.Errorf("%s: %d of %d after a call, want one more than %v", old, balance, earned, want)
		}
	}
}

func TestPurseWithoutAFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := mascot.OpenPurse(filepath.Join(file, "below"), &bus{}, mascot.PurseOptions{}); err == nil {
		t.Error("a folder below a file was made")
	}
}

// Coins are not lost to a file that cannot be written: they wait in memory.
func TestCoinsWaitForTheFile(t *testing.T) {
	t.Parallel()
	dir, b := t.TempDir(), &bus{}
	path := filepath.Join(dir, "mascot.json")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	p := openPurse(t, dir, b, mascot.PurseOptions{Every: time.Hour})
	b.Publish(endedCall("fs", "ls", tool.OK))
	if err := p.Close(); err == nil {
		t.Fatal("a folder was written as a file")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if w, err := p.Wallet(t.Context()); err != nil || w.Balance != 1 {
		t.Errorf("%d coins (%v), want the one that was not written", w.Balance, err)
	}
}

// fakeKernel is a kernel that has files only, reached without a network. refuse makes it refuse connections, hang
// never answer.
type fakeKernel struct {
	mu     sync.Mutex
	files  map[string]string
	puts   []fileWrite
	refuse bool
	hang   bool
}

// fileWrite is one write of a file in the workspace.
type fileWrite struct {
	at            time.Time
	path, content string
}

func (d *fakeKernel) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.hang {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse {
		return nil, errors.New("connection refused")
	}
	if r.URL.Path == "/api/file/getFile" {
		raw, _ := io.ReadAll(r.Body)
		if content, ok := d.files[gjson.GetBytes(raw, "path").Str]; ok {
			return newResponse(r, http.StatusOK, content), nil
		}
		return newResponse(r, http.StatusAccepted, `{"code":404,"msg":"file does not exist","data":null}`), nil
	}
	_, boundary, _ := strings.Cut(r.Header.Get("Content-Type"), "boundary=")
	form, err := multipart.NewReader(r.Body, boundary).ReadForm(1 << 20)
	if err != nil {
		return nil, err
	}
	f, err := form.File["file"][0].Open()
	if err != nil {
		return nil, err
	}
	content, _ := io.ReadAll(f)
	path := form.Value["path"][0]
	d.files[path] = string(content)
	d.puts = append(d.puts, fileWrite{time.Now(), path, string(content)})
	return newResponse(r, http.StatusOK, `{"code":0,"msg":"","data":null}`), nil
}

func newResponse(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r, Header: http.Header{}}
}

func (d *fakeKernel) client() *kernel.Client {
	return kernel.New("http://kernel", kernel.Options{Transport: d})
}

func (d *fakeKernel) file(path string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.files[path]
}

func (d *fakeKernel) countWrites() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.puts)
}

// writesOf returns the writes of a file, in order.
func (d *fakeKernel) writesOf(path string) (out []fileWrite) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.puts {
		if p.path == path {
			out = append(out, p)
		}
	}
	return out
}

const (
	statsFile  = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/puppyStats.json"
	eventsFile = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/puppyEvents.json"
)

// TestSyncWritesSeldom: however many calls there are, each file is written once in an interval.
func TestSyncWritesSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, b := &fakeKernel{files: map[string]string{}}, &bus{}
		const every = 500 * time.Millisecond
		p := openPurse(t, t.TempDir(), b, mascot.PurseOptions{Sync: true, Kernel: d.client()})
		begin := time.Now()
		for i := range 1000 { // 10 s of calls
			b.Publish(endedCall("fs", "read", tool.OK))
			if i%100 == 0 {
				if _, err := p.Spend(t.Context(), "milk", 0); err != nil {
					t.Fatal(err)
				}
			}
			await.Sleep(10 * time.Millisecond)
		}
		if waited := time.Since(begin); waited > 11*time.Second {
			t.Errorf("calls waited for the mascot: %v", waited)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{statsFile, eventsFile} {
			writes := d.writesOf(path)
			if n := len(writes); n < 10 || n > 21 {
				t.Errorf("%s was written %d times in 10 s, want about 20", path, n)
			}
			for i := 1; i < len(writes)-1; i++ { // the last one is that of Close
				if gap := writes[i].at.Sub(writes[i-1].at); gap < every {
					t.Errorf("%s was written after %v", path, gap)
				}
			}
		}
		if got := d.file(statsFile); gjson.Get(got, "totalCalls").Int() != 1000 || gjson.Get(got, "balance").Int() != 1000 {
			t.Errorf("%s", got)
		}
		seq := int64(0)
		for _, w := range d.writesOf(eventsFile) {
			if s := gjson.Get(w.content, "seq").Int(); s <= seq {
				t.Errorf("seq %d after %d", s, seq)
			} else {
				seq = s
			}
		}
		quiet := d.countWrites()
		await.Sleep(time.Minute)
		if d.countWrites() != quiet {
			t.Error("a purse that is closed writes")
		}
	})
}

// TestSeqRises: the number of an event rises even where the clock stands still, and from one process to the next.
func TestSeqRises(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, dir := &fakeKernel{files: map[string]string{}}, t.TempDir()
		for range 20 {
			b := &bus{}
			p := openPurse(t, dir, b, mascot.PurseOptions{Sync: true, Kernel: d.client(), Every: time.Nanosecond})
			b.Publish(endedCall("fs", "read", tool.OK))
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
		writes := d.writesOf(eventsFile)
		if len(writes) != 20 {
			t.Fatalf("%d events, want 20", len(writes))
		}
		for i := 1; i < len(writes); i++ {
			if a, b := gjson.Get(writes[i-1].content, "seq").Int(), gjson.Get(writes[i].content, "seq").Int(); b <= a {
				t.Errorf("seq %d after %d", b, a)
			}
		}
	})
}

// TestSyncShowsCallsThatRun: the workspace's event says running while a call takes long, and then how it ended. Of a
// call that is over before the next write, only the end is written.
func TestSyncShowsCallsThatRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, b, started := &fakeKernel{files: map[string]string{}}, &bus{}, &event.Bus[*tool.Call]{}
		p := openPurse(t, t.TempDir(), b, mascot.PurseOptions{Sync: true, Kernel: d.client(), Started: started})
		call := func(name string, took time.Duration) {
			done := endedCall(name, "read", tool.OK)
			started.Publish(done.Call)
			await.Sleep(took)
			b.Publish(done)
			await.Sleep(time.Second)
		}
		call("fs", 2*time.Second)
		call("block", 10*time.Millisecond)
		call("mascot", 2*time.Second)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range d.writesOf(eventsFile) {
			got = append(got, gjson.Get(w.content, "tool").Str+" "+gjson.Get(w.content, "status").Str)
		}
		if diff := cmp.Diff([]string{"fs running", "fs success", "block success"}, got); diff != "" {
			t.Error(diff)
		}
		if started.Watched() {
			t.Error("a purse that is closed listens")
		}
	})
}

// TestSyncedFilesHaveTheShapeOfThePlugin: the events file holds one object, not a list.
func TestSyncedFilesHaveTheShapeOfThePlugin(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	url := k.URL()
	k.File(eventsFile, []byte(`[{"seq":1},{"seq":2}]`)) // as the first version wrote it
	synctest.Test(t, func(t *testing.T) {               // the clock of the bubble stands still during requests
		client := kernel.New(url, kernel.Options{Token: kerneltest.Token})
		defer client.Close()
		b := &bus{}
		p := openPurse(t, t.TempDir(), b, mascot.PurseOptions{Sync: true, Kernel: client, Every: time.Hour})
		b.Publish(endedCall("fs", "read", tool.Failed))
		for range 4 {
			b.Publish(endedCall("fs", "read", tool.OK))
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		read := func(path string) map[string]any {
			raw, err := client.ReadFile(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			var v map[string]any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			for _, at := range []string{"updatedAt", "ts", "seq"} {
				if ms, ok := v[at].(float64); ok && ms > 9e11 {
					v[at] = "now"
				}
			}
			return v
		}
		if diff := cmp.Diff(map[string]any{"totalCalls": 4., "balance": 4., "updatedAt": "now", "lastAction": "fs/read"}, read(statsFile)); diff != "" {
			t.Error(diff)
		}
		want := map[string]any{"seq": "now", "ts": "now", "tool": "fs", "action": "read", "status": "success", "totalCalls": 4., "balance": 4.}
		if diff := cmp.Diff(want, read(eventsFile)); diff != "" {
			t.Error(diff)
		}
		if _, err := p.Spend(t.Context(), "milk", 3); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil { // twice is harmless
			t.Fatal(err)
		}
		want = map[string]any{
			"seq": "now", "ts": "now", "tool": "mascot", "action": "buy", "status": "success", "totalCalls": 4., "balance": 1.,
			"itemId": "milk", "itemLabel": "Milk 牛奶", "itemType": "drink", "itemEmoji": "🥛",
		}
		if diff := cmp.Diff(want, read(eventsFile)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSyncTakesOverTheCoinsOfThePlugin: they are the user's, so they are added once and never written over.
func TestSyncTakesOverTheCoinsOfThePlugin(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ balance, earned int64 }{
		`{"totalCalls":12,"balance":7}`: {8, 13}, `{"totalCalls":12}`: {13, 13}, `{"totalCalls":12,"balance":-3}`: {1, 13},
		`garbage`: {1, 1}, ``: {1, 1},
	}
	for theirs, want := range tests {
		d, dir := &fakeKernel{files: map[string]string{}}, t.TempDir()
		if theirs != "" {
			d.files[statsFile] = theirs
		}
		for range 3 { // the second and third process find them joined
			b := &bus{}
			p := openPurse(t, dir, b, mascot.PurseOptions{Sync: true, Kernel: d.client(), Every: time.Hour})
			if d.countWrites() == 0 {
				b.Publish(endedCall("fs", "ls", tool.OK))
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if w, err := p.Wallet(t.Context()); w.Balance != want.balance || w.Earned != want.earned || err != nil {
				t.Errorf("%q: %d of %d (%v), want %v", theirs, w.Balance, w.Earned, err, want)
			}
		}
		if got := gjson.Get(d.file(statsFile), "balance").Int(); got != want.balance {
			t.Errorf("%q: the workspace has %d", theirs, got)
		}
	}
}

// TestKernelThatHangsCostsNoCoins: a purse that closes writes its own file, whatever the workspace does.
func TestKernelThatHangsCostsNoCoins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, dir, b := &fakeKernel{hang: true}, t.TempDir(), &bus{}
		p := openPurse(t, dir, b, mascot.PurseOptions{Sync: true, Kernel: d.client(), Every: time.Hour})
		b.Publish(endedCall("fs", "ls", tool.OK))
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if balance, _ := readPurse(t, dir); balance != 1 {
			t.Errorf("%d coins, want 1", balance)
		}
	})
}

// TestKernelDownCostsNoCoins: what could not be read is not written over, and counts once it can be read.
func TestKernelDownCostsNoCoins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, dir, b := &fakeKernel{files: map[string]string{statsFile: `{"totalCalls":100,"balance":50}`}, refuse: true}, t.TempDir(), &bus{}
		p := openPurse(t, dir, b, mascot.PurseOptions{Sync: true, Kernel: d.client()})
		b.Publish(endedCall("fs", "ls", tool.OK))
		await.Sleep(time.Minute)
		if w, err := p.Wallet(t.Context()); err != nil || w.Balance != 1 {
			t.Errorf("%d coins (%v), want the one that is known of", w.Balance, err)
		}
		d.mu.Lock()
		d.refuse = false
		d.mu.Unlock()
		b.Publish(endedCall("fs", "ls", tool.OK))
		await.Sleep(time.Minute)
		if got := d.file(statsFile); gjson.Get(got, "balance").Int() != 52 || gjson.Get(got, "totalCalls").Int() != 102 {
			t.Errorf("%s, want 50 and 100 and two more", got)
		}
	})
}

// TestAnotherWorkspaceGetsNoCoins: nothing is read from or written to a kernel that is not the intended one.
func TestAnotherWorkspaceGetsNoCoins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, b := &fakeKernel{files: map[string]string{statsFile: `{"totalCalls":100,"balance":50}`}}, &bus{}
		client, wrong := d.client(), errors.New("another workspace")
		p := openPurse(t, t.TempDir(), b, mascot.PurseOptions{
			Sync: true, Kernel: client, Verifier: kernel.NewVerifier(client, func(context.Context, *kernel.Client) error { return wrong }),
		})
		b.Publish(endedCall("fs", "ls", tool.OK))
		await.Sleep(time.Minute)
		if w, err := p.Wallet(t.Context()); err != nil || w.Balance != 1 || d.countWrites() != 0 {
			t.Errorf("%d coins (%v), %d writes; want 1 and none", w.Balance, err, d.countWrites())
		}
		wrong = nil
		b.Publish(endedCall("fs", "ls", tool.OK))
		await.Sleep(time.Minute)
		if got := d.file(statsFile); gjson.Get(got, "balance").Int() != 52 {
			t.Errorf("once it is the intended one: %s, want 50 and two more", got)
		}
	})
}

func TestWithoutSyncTheWorkspaceIsLeftAlone(t *testing.T) {
	t.Parallel()
	d, b := &fakeKernel{files: map[string]string{}}, &bus{}
	p := openPurse(t, t.TempDir(), b, mascot.PurseOptions{Kernel: d.client(), Every: time.Millisecond})
	for range 100 {
		b.Publish(endedCall("fs", "ls", tool.OK))
	}
	if _, err := p.Wallet(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if d.countWrites() != 0 {
		t.Errorf("%v", d.puts)
	}
}

// FuzzOldFile checks that no content of the file stops the mascot or takes it below 0.
func FuzzOldFile(f *testing.F) {
	for _, seed := range []string{`{"totalCalls":12,"balance":7}`, `{"balance":-1e999}`, `[`, `{"totalCalls":{}}`, `{"balance":NaN}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, old []byte) {
		dir, b := t.TempDir(), &bus{}
		if err := os.WriteFile(filepath.Join(dir, "mascot.json"), old, 0o600); err != nil {
			t.Fatal(err)
		}
		p := openPurse(t, dir, b, mascot.PurseOptions{Every: time.Hour})
		w, err := p.Wallet(t.Context())
		if err != nil || w.Balance < 0 || w.Earned < 0 {
			t.Fatalf("%d of %d: %v", w.Balance, w.Earned, err)
		}
		for range 1 + rand.IntN(3) {
			b.Publish(endedCall("fs", "ls", tool.OK))
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		after, _ := readPurse(t, dir)
		if after <= w.Balance && w.Balance < 1<<52 {
			t.Errorf("%d coins after calls, %d before", after, w.Balance)
		}
	})
}
