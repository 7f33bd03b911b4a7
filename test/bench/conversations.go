package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/face/cli/home"
	"collie/internal/llm/keypool"
	"collie/internal/store"
	"collie/test/fakellm/provider"
)

const (
	// deltaPace is how far apart the pieces of an answer are sent.
	deltaPace = 20 * time.Millisecond
	// longSession is the number of messages in each conversation of the file.
	longSession = 5000
	// poolKeys is the number of keys to choose from, and picks the number of choices in a round.
	poolKeys = 16
	picks    = 200_000
)

// soughtWords are the words to search for. The rare ones are in one message of each long
// conversation.
var soughtWords = []struct{ what, word string }{
	{"a rare word", "needle"},
	{"a rare word of two characters", "kq"},
	{"a rare word of one Chinese character", "针"},
	{"a frequent word of two Chinese characters", "笔记"},
	{"a word of two characters that is nowhere", "zx"},
}

// conversations measures the agent host: how long the pieces of a model's answer take from the provider to the client,
// how much processor time and memory that needs, and how fast conversations are found and opened.
func (b *bench) conversations(ctx context.Context) error {
	if err := b.measureKeyChoice(ctx); err != nil {
		return err
	}
	pieces := b.plan.deltas
	fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{{Turns: []provider.Turn{{
		Say: strings.Repeat("$NOW ", pieces), Chunk: len("$NOW "), Pace: provider.Duration(deltaPace),
	}}}}}, provider.Options{})
	if err != nil {
		return err
	}
	at := httptest.NewServer(fake)
	defer at.Close()
	defer at.CloseClientConnections()
	t := &talkBench{bench: b, provider: at.URL + "/v1", client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}}
	defer t.client.CloseIdleConnections()
	for _, part := range []func(context.Context) error{t.fill, t.measureFirstList, t.measureMemory, t.measureSearch, t.measureStreams} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return errors.Join(providerFaults(fake)...)
}

func providerFaults(fake *provider.Server) (errs []error) {
	for _, f := range fake.Faults() {
		errs = append(errs, errors.New("the provider refused: "+f))
	}
	return errs
}

// talkBench is a home with many conversations, and a fake model provider that answers in them.
type talkBench struct {
	*bench
	provider     string
	client       *http.Client
	home, config string
	messages     int
	session      string // one of the long ones
}

// measureKeyChoice measures how long the pool of keys takes to choose a key for a request, compared with the minimum that any pool
// needs: a mutex and a map.
func (b *bench) measureKeyChoice(ctx context.Context) error {
	keys := make([]keypool.Key, poolKeys)
	for i := range keys {
		keys[i] = keypool.Key{Label: strconv.Itoa(i), Secret: "s", Weight: i%5 + 1}
	}
	pool := keypool.New(keypool.Options{})
	pool.Apply([]keypool.Provider{{Name: "p", Keys: keys}})
	var mu sync.Mutex
	found := map[string]*int{"p": new(int), "q": new(int)}
	name := strings.Clone("p")
	pick := func(session string) (each float64, err error) {
		begun := time.Now()
		for range picks {
			r := keypool.Request{Provider: name, Model: "m", Session: session}
			if _, err := pool.ResolveAPIKeyForRequest(ctx, &r); err != nil {
				return 0, err
			}
		}
		return float64(time.Since(begun)) / picks, nil
	}
	var took, kept, floor []float64
	for round := range b.plan.rounds + 1 {
		free, err := pick("")
		if err != nil {
			return err
		}
		again, err := pick("0198f3a0-7b6e-7c11-9f4e-2f4bd1f0c0aa")
		if err != nil {
			return err
		}
		begun := time.Now()
		for range picks {
			mu.Lock()
			*found[name]++
			mu.Unlock()
		}
		if round > 0 { // the first round also reads the secrets
			took, kept, floor = append(took, free), append(kept, again), append(floor, float64(time.Since(begun))/picks)
		}
	}
	b.add(fmt.Sprintf("conversations: choosing one of %d keys", poolKeys), nanoseconds, took, atMost(100))
	b.add("conversations: the same ÷ a free mutex and a look into a map", ratio, combineRounds(took, floor, div), bound{})
	b.add(fmt.Sprintf("conversations: the one of %d keys that a conversation keeps", poolKeys), nanoseconds, kept, atMost(100))
	return nil
}

// fill makes the home: its settings, and a file of conversations with longSession messages each.
func (t *talkBench) fill(ctx context.Context) error {
	dir, err := os.MkdirTemp(t.dir, "talks-")
	if err != nil {
		return err
	}
	t.home, t.config = filepath.Join(dir, "home"), filepath.Join(dir, "collie.json")
	settings := mustJSON(map[string]any{
		"siyuan": map[string]any{"enabled": false}, "agent": map[string]any{"model": "fake/m"},
		"providers": map[string]any{"fake": map[string]any{
			"kind": "openai", "baseURL": t.provider, "keys": []any{map[string]any{"label": "a", "secret": "x"}},
		}},
	})
	if err := os.WriteFile(t.config, []byte(settings), 0o600); err != nil {
		return err
	}
	s, err := store.Open(ctx, filepath.Join(t.home, "data"), chat.Schema())
	if err != nil {
		return err
	}
	service, err := chat.Open(ctx, s, chat.Options{})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	for i := range t.plan.talks {
		made, ierr := service.Import(ctx, strings.NewReader(longTalk(longSession, i)), nil)
		if err = ierr; err != nil {
			break
		}
		t.session, t.messages = made.ID, t.messages+longSession
	}
	return errors.Join(err, service.Close(ctx), s.Close())
}

// longTalk returns a conversation of n messages in the format of exports.
func longTalk(n, seed int) string {
	var b strings.Builder
	b.WriteString(`{"format":"collie.session","version":1,"session":{"title":"long","config":{}},"selectedChildId":"0","messages":[`)
	words := strings.Fields("the tree has branches 会话 and messages 消息树 with text 工具 that people write about notes 笔记 and answers")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		var said []string
		for j := range 40 {
			said = append(said, words[(i*7+j*j+seed)%len(words)])
		}
		if i == n/2 {
			said = append(said, "needle", "kq", "针")
		}
		role, next := "user", ""
		if i%2 == 1 {
			role = "assistant"
		}
		if i+1 < n {
			next = strconv.Itoa(i + 1)
		}
		fmt.Fprintf(&b, `{"id":"%d","parentId":"%d","role":%q,"status":"complete","parts":[{"type":"text","text":%q}],"selectedChildId":%q}`,
			i, i-1, role, strings.Join(said, " "), next)
	}
	b.WriteString("]}")
	return b.String()
}

// serve runs `collie serve` while use runs, which gets the address of its API.
func (t *talkBench) serve(ctx context.Context, use func(*daemon, *api) error) error {
	d, err := t.serveIn(ctx, t.home, t.config, collieListens)
	if err != nil {
		return err
	}
	defer d.stop() //nolint:errcheck // it returns nil
	var keys home.Gateway
	raw, err := os.ReadFile(filepath.Join(t.home, "state", "gateway.json"))
	if err == nil {
		err = json.Unmarshal(raw, &keys)
	}
	if err != nil {
		return err
	}
	at, err := url.Parse(d.url)
	if err != nil {
		return err
	}
	return use(d, &api{client: t.client, url: "http://" + at.Host + "/api/v1", key: keys.Control})
}

// api is the HTTP API of a gateway.
type api struct {
	client   *http.Client
	url, key string
}

func (a *api) send(ctx context.Context, method, path, accept, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+a.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	resp, err := a.client.Do(r)
	if err == nil && resp.StatusCode >= 300 {
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s %s: status %d: %.300s", method, path, resp.StatusCode, text)
	}
	return resp, err
}

// ask returns the answer to a request, and how long it took.
func (a *api) ask(ctx context.Context, method, path, body string) (gjson.Result, time.Duration, error) {
	begun := time.Now()
	resp, err := a.send(ctx, method, path, "application/json", body)
	if err != nil {
		return gjson.Result{}, 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return gjson.ParseBytes(text), time.Since(begun), err
}

// measureFirstList measures the time from the start of a gateway to its first list of conversations.
func (t *talkBench) measureFirstList(ctx context.Context) error {
	var took []float64
	for range t.plan.rounds + 1 { // the first makes keys and folders
		err := t.serve(ctx, func(d *daemon, a *api) error {
			_, _, err := a.ask(ctx, http.MethodGet, "/sessions", "")
			took = append(took, micros(time.Since(d.begun))/1000)
			return err
		})
		if err != nil {
			return err
		}
	}
	t.add(fmt.Sprintf("conversations: start of `collie serve` to the list of them, %d messages in the file", t.messages), milliseconds, took[1:], atMost(150))
	return nil
}

// measureMemory measures the memory of a gateway in which turns run.
func (t *talkBench) measureMemory(ctx context.Context) error {
	var all, anonymous []float64
	for range t.plan.rounds {
		err := t.serve(ctx, func(d *daemon, a *api) error {
			_, err := readStreams(ctx, t.plan.talkers, t.plan.deltas, a.openTurn, func(bool) {
				if v, err := memory(d.cmd.Process.Pid, "VmRSS"); err == nil {
					all = append(all, v)
				}
				if v, err := memory(d.cmd.Process.Pid, "RssAnon"); err == nil {
					anonymous = append(anonymous, v)
				}
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	who := fmt.Sprintf(", %d turns streaming", t.plan.talkers)
	t.add("conversations: RSS"+who, mebibytes, all, atMost(120e6/(1<<20)))
	t.add("conversations: anonymous memory"+who, mebibytes, anonymous, bound{})
	return nil
}

// measureSearch measures searching all messages and opening a long conversation, over HTTP.
func (t *talkBench) measureSearch(ctx context.Context) error {
	return t.serve(ctx, func(_ *daemon, a *api) error {
		ask := func(path string, check func(gjson.Result) bool) (took []float64, err error) {
			for round := range t.plan.rounds + 1 { // the first fills caches
				answer, d, err := a.ask(ctx, http.MethodGet, path, "")
				if err == nil && !check(answer) {
					err = fmt.Errorf("%s: got %.300s", path, answer.Raw)
				}
				if err != nil {
					return nil, err
				}
				if round > 0 {
					took = append(took, micros(d)/1000)
				}
			}
			return took, nil
		}
		for _, q := range soughtWords {
			took, err := ask("/search?q="+url.QueryEscape(q.word), func(r gjson.Result) bool {
				return (q.word == "zx") != strings.Contains(r.Raw, "messageId")
			})
			if err != nil {
				return err
			}
			t.add(fmt.Sprintf("conversations: search of %d messages for %s", t.messages, q.what), milliseconds, took, atMost(100))
		}
		took, err := ask("/sessions/"+t.session, func(r gjson.Result) bool { return len(r.Raw) > longSession*100 })
		t.add(fmt.Sprintf("conversations: opening one of %d messages", longSession), milliseconds, took, atMost(150))
		return err
	})
}

// measureStreams measures how long pieces of an answer take through the gateway. It alternates with the bare relay, which passes
// on the provider's bytes unchanged.
func (t *talkBench) measureStreams(ctx context.Context) error {
	relay, err := startDaemon(ctx, serverReady, t.relay, "-stream", t.provider+"/chat/completions")
	if err != nil {
		return err
	}
	defer relay.stop() //nolint:errcheck // it returns nil
	floor := &api{client: t.client, url: relay.url, key: "x"}
	return t.serve(ctx, func(d *daemon, a *api) error {
		for _, n := range t.plan.streams {
			var p50, p99, floor50, floor99, cores, floorCores []float64
			for range t.plan.rounds {
				through, used, err := t.measurePieces(ctx, d, n, a.openTurn)
				if err != nil {
					return err
				}
				alone, relayed, err := t.measurePieces(ctx, relay, n, floor.openCompletion)
				if err != nil {
					return fmt.Errorf("bare relay: %w", err)
				}
				p50, floor50 = append(p50, micros(percentile(through, 50))/1000), append(floor50, micros(percentile(alone, 50))/1000)
				p99, floor99 = append(p99, micros(percentile(through, 99))/1000), append(floor99, micros(percentile(alone, 99))/1000)
				if used > 0 && relayed > 0 {
					cores, floorCores = append(cores, used), append(floorCores, relayed)
				}
			}
			who := fmt.Sprintf(", %d streaming", n)
			t.add("conversations: p50, provider to listener"+who, milliseconds, p50, atMost(1))
			t.add("conversations: p99, provider to listener"+who, milliseconds, p99, atMost(5))
			t.add("conversations: p50 ÷ bare relay"+who, ratio, combineRounds(p50, floor50, div), bound{})
			t.add("conversations: p99 ÷ bare relay"+who, ratio, combineRounds(p99, floor99, div), bound{})
			t.add("conversations: processors used"+who, processors, cores, atMost(1))
			t.add("conversations: processors used ÷ bare relay"+who, ratio, combineRounds(cores, floorCores, div), bound{})
			t.add("conversations: p50, bare relay"+who, milliseconds, floor50, bound{})
			t.add("conversations: p99, bare relay"+who, milliseconds, floor99, bound{})
		}
		return nil
	})
}

// measurePieces returns how long pieces take while n answers stream, and how many processors the program in between uses.
func (t *talkBench) measurePieces(ctx context.Context, d *daemon, n int, open openStream) (took []time.Duration, used float64, err error) {
	var begun time.Time
	var before time.Duration
	took, err = readStreams(ctx, n, t.plan.deltas, open, func(first bool) {
		now, err := cpuTime(d.cmd.Process.Pid)
		switch {
		case err != nil:
		case first:
			begun, before = time.Now(), now
		default:
			used = float64(now-before) / float64(time.Since(begun))
		}
	})
	return took, used, err
}

// openStream begins an answer and returns its stream.
type openStream func(ctx context.Context) (io.ReadCloser, error)

// openTurn sends a message in a new conversation, and returns the stream of the turn's events.
func (a *api) openTurn(ctx context.Context) (io.ReadCloser, error) {
	made, _, err := a.ask(ctx, http.MethodPost, "/sessions", "{}")
	if err != nil {
		return nil, err
	}
	resp, err := a.send(ctx, http.MethodPost, "/sessions/"+made.Get("id").String()+"/turns", "text/event-stream", `{"userMessage":{"text":"go on"}}`)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// openCompletion sends a request to the provider, without Collie, and returns the stream of the answer.
func (a *api) openCompletion(ctx context.Context) (io.ReadCloser, error) {
	resp, err := a.send(ctx, http.MethodPost, "", "text/event-stream", `{"model":"m","stream":true,"messages":[{"role":"user","content":"go on"}]}`)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// readStreams opens n streams at once, of answers with so many pieces each, and returns how long the pieces took. It counts
// only pieces that arrive while all n streams are running. It calls mark(true) when that period begins, and mark(false)
// when it ends.
func readStreams(ctx context.Context, n, pieces int, open openStream, mark func(begins bool)) (took []time.Duration, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		begun, ended sync.WaitGroup
		mu           sync.Mutex
		all          = make(chan struct{}) // closed once all stream
		last         sync.Once
	)
	begun.Add(n)
	for i := range n {
		ended.Go(func() {
			first := sync.OnceFunc(begun.Done)
			defer first()
			got, mine := 0, make([]time.Duration, 0, pieces)
			err := pause(ctx, deltaPace*time.Duration(i)/time.Duration(n)) // else all pieces are sent at the same moments
			if err == nil {
				err = readStream(ctx, open, func(late time.Duration) {
					first()
					got++
					select {
					case <-all:
						mine = append(mine, late)
					default:
					}
				})
			}
			if len(mine) > 0 {
				last.Do(func() { mark(false) })
			}
			if err == nil && got < pieces/2 { // events from before the listener existed arrive as one
				err = fmt.Errorf("%d pieces of %d came", got, pieces)
			}
			if err != nil {
				stop(err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	begun.Wait()
	mark(true)
	close(all)
	ended.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if len(took) == 0 {
		return nil, errors.New("the first answer had ended before the last one began")
	}
	return took, nil
}

// readStream reads an answer, and calls each with the time that each of its pieces took.
func readStream(ctx context.Context, open openStream, each func(late time.Duration)) error {
	body, err := open(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		now := time.Now()
		for _, sent := range sentTimes(lines.Bytes()) {
			each(now.Sub(sent))
		}
	}
	return lines.Err()
}

// sentTimes returns the sending times in a line of a stream. The fake provider writes the time as the text of each piece; a
// line of Collie may join several pieces.
func sentTimes(line []byte) (sent []time.Time) {
	for _, key := range []string{`"type":"text.delta"`, `"object":"chat.completion.chunk"`} {
		if !bytes.Contains(line, []byte(key)) {
			continue
		}
		for _, name := range []string{`"text":"`, `"content":"`} {
			_, text, there := bytes.Cut(line, []byte(name))
			text, _, _ = bytes.Cut(text, []byte(`"`))
			for one := range bytes.FieldsSeq(text) {
				if ns, err := strconv.ParseInt(string(one), 10, 64); there && err == nil {
					sent = append(sent, time.Unix(0, ns))
				}
			}
		}
	}
	return sent
}
