package httpstore

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Options of a [Store]. The zero value is useful.
type Options struct {
	// Token is sent as bearer; empty sends none. It is in no error and no log.
	Token string
	// Client makes the requests; its redirects are not followed, and Close leaves it alone.
	// Nil means one of our own, without a proxy, that gives up connecting after 2 s.
	Client *http.Client
}

// Store is the [toolcache.Backend] that another Collie serves. It is safe for concurrent use.
type Store struct {
	base   *url.URL
	token  string
	client *http.Client
	idle   time.Duration // an event stream silent for that long is dead
	free   func()        // closes the connections that are ours

	life    context.Context //nolint:containedctx // it ends with Close, and is nobody's request
	end     context.CancelFunc
	running sync.WaitGroup

	own  toolcache.Own
	seen atomic.Uint64 // generation last loaded or committed

	mu     sync.Mutex
	closed bool
	last   *toolcache.Snapshot // what an answer of 304 stands for; never changed
}

var _ toolcache.Backend = (*Store)(nil)

// requestTimeout bounds a request whose caller sets no bound.
const requestTimeout = 30 * time.Second

// Open returns the store at the Collie whose pages are at base, such as
// https://collie.example:7420. It contacts nobody and fails only for an address that can be no
// such one. The caller closes the Store.
func Open(base string, opts Options) (*Store, error) {
	u, err := parse(base)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	s := &Store{base: u, token: opts.Token, idle: 3 * heartbeat, life: life, end: end, free: func() {}}
	client := http.Client{}
	if opts.Client != nil {
		client = *opts.Client
	} else {
		t := &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			TLSHandshakeTimeout: 2 * time.Second,
			ForceAttemptHTTP2:   true,
			IdleConnTimeout:     time.Minute,
			MaxIdleConnsPerHost: 4,
		}
		client.Transport, s.free = t, t.CloseIdleConnections
	}
	// The token is for this peer, and the body too.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client = &client
	return s, nil
}

func parse(base string) (*url.URL, error) {
	wrong := func(message string) error {
		return &tool.Error{
			Op: "open shared tool cache", Kind: tool.Invalid, Message: message,
			Hint: "give the address of the other Collie, such as https://collie.example:7420, and the token apart from it",
		}
	}
	u, err := url.Parse(strings.TrimSpace(base))
	switch {
	case err != nil: // which repeats the address, and what secret may be in it
		return nil, wrong("the address is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, wrong("the address has the scheme " + strconv.Quote(u.Scheme) + ", expected http or https")
	case u.Host == "":
		return nil, wrong("the address names no host")
	case u.User != nil:
		return nil, wrong("the address holds a user name or password")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, wrong("the address has a query or fragment")
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), Path) {
		u = u.JoinPath(Path)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// Load asks for everything, and for nothing if that has not changed since the last time.
func (s *Store) Load(ctx context.Context) (toolcache.Snapshot, error) {
	const op = "load shared tool cache"
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	r := request{op: op, method: http.MethodGet, header: http.Header{}}
	if last != nil {
		r.header.Set("If-None-Match", etag(last.Generation))
	}
	var got snapshot
	status, err := s.do(ctx, r, &got)
	if err != nil {
		return toolcache.Snapshot{}, err
	}
	if status == http.StatusNotModified {
		if last == nil {
			return toolcache.Snapshot{}, s.nonsense(op, "304 without being asked for a change", nil)
		}
	} else if last, err = s.take(op, got); err != nil {
		return toolcache.Snapshot{}, err
	}
	s.seen.Store(last.Generation)
	out := *last
	out.Entries = maps.Clone(last.Entries)
	return out, nil
}

// take checks what a peer has sent and keeps it for the next Load.
func (s *Store) take(op string, got snapshot) (*toolcache.Snapshot, error) {
	if got.Generation == nil {
		return nil, s.nonsense(op, "an answer without a generation", nil)
	}
	for name, raw := range got.Entries {
		if !isObject(raw) {
			return nil, s.nonsense(op, "an entry "+strconv.Quote(name)+" that is no object", nil)
		}
	}
	if got.Entries == nil {
		got.Entries = map[string]json.RawMessage{}
	}
	snap := &toolcache.Snapshot{Generation: *got.Generation, Entries: got.Entries, TotalWrites: got.TotalWrites}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = snap
	return snap, nil
}

// Commit sends the changes.
func (s *Store) Commit(ctx context.Context, base uint64, changes []toolcache.Change) (generation uint64, err error) {
	const op = "commit to shared tool cache"
	p := patch{Changes: make([]change, len(changes))}
	for i, c := range changes {
		if c.Entry != nil && (!json.Valid(c.Entry) || !isObject(c.Entry)) {
			return 0, &tool.Error{
				Op: op, Kind: tool.Invalid, Subject: "entry " + strconv.Quote(c.Server),
				Message: "is no JSON object",
			}
		}
		p.Changes[i] = change{c.Server, c.Entry}
	}
	var got committed
	landed := s.own.Begin(base)
	defer func() { landed(generation) }()
	_, err = s.do(ctx, request{
		op: op, method: http.MethodPatch, header: http.Header{"If-Match": {etag(base)}}, body: p,
	}, &got)
	if err != nil {
		return 0, err
	}
	if got.Generation == nil || *got.Generation <= base {
		return 0, s.nonsense(op, "no generation above "+etag(base), nil)
	}
	s.seen.Store(*got.Generation)
	return *got.Generation, nil
}

// Lease asks the peer, by whose clock the lease ends.
func (s *Store) Lease(ctx context.Context, server, holder string, d time.Duration) (bool, error) {
	const op = "lease in shared tool cache"
	millis := max(0, (d + time.Millisecond - 1).Milliseconds())
	var got leaseAnswer
	_, err := s.do(ctx, request{
		op: op, method: http.MethodPost, below: "/leases/" + segment(server), body: leaseRequest{holder, millis},
	}, &got)
	if err != nil {
		return false, err
	}
	if got.OK == nil {
		return false, s.nonsense(op, "neither yes nor no", nil)
	}
	return *got.OK, nil
}

// segment escapes a name so that no proxy takes it for a step in the path.
func segment(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.Repeat("%2E", len(name))
	}
	return url.PathEscape(name)
}

// Close ends every call and waits for them.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed, s.last = true, nil
	s.mu.Unlock()
	s.end()
	s.running.Wait()
	s.free()
	return nil
}

// enter counts a call, whose context then also ends with the Store.
func (s *Store) enter(ctx context.Context, op string) (_ context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, closedError(op)
	}
	s.running.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(os.ErrClosed) })
	return ctx, func() { stop(); cancel(nil); s.running.Done() }, nil
}
