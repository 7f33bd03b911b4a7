// Package notify tells a person who is elsewhere that they are asked about a call: by a desktop notification, a POST to an
// address of theirs, or both. It says which tool, which client and where to answer, never arguments, and is no way to
// answer. The entry point is [New].
//
// Nothing waits for it: a [Note] that cannot be sent soon is dropped, and what fails is logged.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"collie/internal/process"
	"collie/internal/tool"
)

// Format is the form of what is posted.
type Format string

// The formats. The empty one is JSON.
const (
	// JSON is an object with title, message, tool, client, risk and answer. The message is also there as text and
	// content, under which chat programs look for it.
	JSON Format = "json"
	// Text is the message alone, with the header Title.
	Text Format = "text"
)

// Settings say where notes go. The zero value sends them nowhere.
type Settings struct {
	Desktop bool
	URL     string            // empty for none
	Headers map[string]string // of the POST
	Format  Format
	// Secret returns what URL or a header stands for that is written so; nil takes them as they are.
	Secret func(ctx context.Context, written string) (string, error)
}

// On reports whether notes go anywhere.
func (s *Settings) On() bool { return s.Desktop || s.URL != "" }

// Note is that a person is asked.
type Note struct {
	Tool   string
	Client string // may be empty
	Risk   tool.Risk
	Answer string // where the person can answer, in a few words
}

// Options of a [Notifier]. The zero value works.
type Options struct {
	// Check reports what is wrong with an address whose references are filled in; nil takes all.
	Check  func(address string) error
	Env    []string     // of the program that shows notifications
	Logger *slog.Logger // nil discards
}

const (
	sendLimit = 10 * time.Second // for one note at one place
	maxQueued = 16               // notes that wait
	maxText   = 200              // characters of a name
	title     = "Collie asks you"
)

// Notifier sends notes. It is safe for concurrent use. The caller calls Close.
type Notifier struct {
	opts     Options
	client   *http.Client
	settings atomic.Pointer[Settings]
	notes    chan Note
	stop     context.CancelFunc
	done     sync.WaitGroup
}

// New returns a Notifier that sends nothing yet.
func New(opts Options) *Notifier {
	if opts.Check == nil {
		opts.Check = func(string) error { return nil }
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &Notifier{opts: opts, notes: make(chan Note, maxQueued), stop: stop, client: &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		// A redirect could lead anywhere, also into a private network.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	n.settings.Store(&Settings{})
	n.done.Go(func() { n.run(ctx) }) // ends with Close
	return n
}

// Use replaces the settings, for later notes.
func (n *Notifier) Use(s Settings) {
	if s.Secret == nil {
		s.Secret = func(_ context.Context, written string) (string, error) { return written, nil }
	}
	n.settings.Store(&s)
}

// Close drops the notes that wait, breaks off the one being sent, and waits for that. It may be called twice.
func (n *Notifier) Close() {
	n.stop()
	n.done.Wait()
}

// Send sends a note soon. It never waits: a note for which there is no room is dropped.
func (n *Notifier) Send(note Note) {
	if !n.settings.Load().On() {
		return
	}
	select {
	case n.notes <- note:
	default:
		n.opts.Logger.Warn("a notification was dropped, since too many wait", "tool", note.Tool)
	}
}

func (n *Notifier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case note := <-n.notes:
			for _, r := range n.Try(ctx, note) {
				if r.Err != nil && ctx.Err() == nil {
					n.opts.Logger.Warn("a person was not notified of a question", "by", r.By, "error", r.Err)
				}
			}
		}
	}
}

// Result is what became of a note at one place.
type Result struct {
	By  string // "desktop", or the host that was posted to
	Err error
}

// Try sends a note now and returns what became of it at each place; nil if there is none.
func (n *Notifier) Try(ctx context.Context, note Note) []Result {
	note.Tool, note.Client, note.Answer = oneLine(note.Tool), oneLine(note.Client), oneLine(note.Answer)
	s := n.settings.Load()
	var out []Result
	if s.Desktop {
		out = append(out, Result{"desktop", n.show(ctx, &note)})
	}
	if s.URL != "" {
		host, err := n.post(ctx, s, &note)
		out = append(out, Result{host, err})
	}
	return out
}

// message is what the person reads.
func (n *Note) message() string {
	var b strings.Builder
	b.WriteString(n.Tool)
	if n.Client != "" {
		b.WriteString(", for " + n.Client)
	}
	if n.Risk != "" {
		fmt.Fprintf(&b, ", risk %s", n.Risk)
	}
	b.WriteString(". Answer: " + n.Answer)
	return b.String()
}

// show shows a note on the desktop of this machine.
func (n *Notifier) show(ctx context.Context, note *Note) error {
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	// Names come from others: they are arguments of their own, and no markup.
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>&", r) {
			return ' '
		}
		return r
	}, note.message())
	c := process.Command{Label: "notification", Env: n.opts.Env}
	switch runtime.GOOS {
	case "darwin":
		const script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
		c.Name, c.Args = "osascript", []string{"-e", script, title, text}
	case "windows":
		return errors.New("desktop notifications are for Linux and macOS; set guard.notify.url instead")
	default:
		c.Name, c.Args = "notify-send", []string{"--app-name=Collie", "--", title, text}
	}
	_, err := process.Output(ctx, c, 4<<10, nil)
	if _, is := errors.AsType[*process.StartError](err); is {
		return fmt.Errorf("%w; install %s, or set guard.notify.url instead", err, c.Name)
	}
	return err
}

// post posts a note, and returns the host.
func (n *Notifier) post(ctx context.Context, s *Settings, note *Note) (host string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	req, err := n.request(ctx, s, note)
	if err != nil {
		return "guard.notify.url", err
	}
	resp, err := n.client.Do(req)
	if err != nil {
		if e, is := errors.AsType[*url.Error](err); is {
			err = e.Err // without the URL, which may hold a secret
		}
		if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", sendLimit)
		}
		return req.URL.Host, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return req.URL.Host, fmt.Errorf("it answers %d and sends on to somewhere else, which is not followed; set guard.notify.url to the final address", resp.StatusCode)
	case resp.StatusCode >= 400:
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // it only explains
		return req.URL.Host, fmt.Errorf("it answers %d: %s", resp.StatusCode, oneLine(string(said)))
	}
	return req.URL.Host, nil
}

func (n *Notifier) request(ctx context.Context, s *Settings, note *Note) (*http.Request, error) {
	address, err := s.Secret(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	if err := n.opts.Check(address); err != nil {
		return nil, err
	}
	body, kind := []byte(note.message()), "text/plain; charset=utf-8"
	if s.Format != Text {
		kind = "application/json"
		if body, err = json.Marshal(map[string]string{
			"title": title, "message": note.message(), "text": note.message(), "content": note.message(),
			"tool": note.Tool, "client": note.Client, "risk": string(note.Risk), "answer": note.Answer,
		}); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("it is not a URL once its secrets are filled in")
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "collie")
	if s.Format == Text {
		req.Header.Set("Title", title)
	}
	for name, written := range s.Headers {
		value, err := s.Secret(ctx, written)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// oneLine is a name on one line of visible characters, cut where it is too long.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '\uFFFD'
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) > maxText {
		text = string([]rune(text)[:maxText]) + "…"
	}
	return text
}
