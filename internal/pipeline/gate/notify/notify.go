// Package notify tells a person who is not at the terminal that a call waits for their answer: by a desktop
// notification, a POST to a URL, or both. A note names the tool, the client and where to answer, never arguments, and
// cannot be answered itself. The entry point is [New].
//
// Notes are sent in the background. A [Note] is dropped if too many wait, and failures are logged.
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

// Format is the format of the body of a POST.
type Format string

// The formats. The empty one is JSON.
const (
	// JSON is an object with title, message, tool, client, risk and answer. The message is repeated as text and
	// content, the names that chat programs expect.
	JSON Format = "json"
	// Text is the message alone, with the title in the header Title.
	Text Format = "text"
)

// Settings say where notes go. The zero value sends them nowhere.
type Settings struct {
	Desktop bool
	URL     string            // empty: no POST
	Headers map[string]string // of the POST
	Format  Format
	// Secret replaces references to secrets in URL and in values of headers; nil leaves them as they are.
	Secret func(ctx context.Context, text string) (string, error)
}

// sendsNotes reports whether notes are sent anywhere.
func (s *Settings) sendsNotes() bool { return s.Desktop || s.URL != "" }

// Note is a notification that a call waits for a person's answer.
type Note struct {
	Tool   string
	Client string // may be empty
	Risk   tool.Risk
	Answer string // where the person can answer, in a few words
}

// Options of a [Notifier]. The zero value works.
type Options struct {
	// Check returns an error if notes must not be sent to an address, in which secrets are filled in; nil allows all.
	Check  func(address string) error
	Env    []string     // environment of the program that shows notifications
	Logger *slog.Logger // nil discards
}

const (
	sendLimit = 10 * time.Second // time limit for one note to one destination
	maxQueued = 16               // waiting notes
	maxText   = 200              // characters of a name
	title     = "Collie asks you"
)

// Notifier sends notes. It is safe for concurrent use. The caller must call Close.
type Notifier struct {
	opts     Options
	client   *http.Client
	settings atomic.Pointer[Settings]
	notes    chan Note
	stop     context.CancelFunc
	done     sync.WaitGroup
}

// New returns a Notifier, which sends nothing before [Notifier.Use].
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

// Use replaces the settings for later notes.
func (n *Notifier) Use(s Settings) {
	if s.Secret == nil {
		s.Secret = func(_ context.Context, text string) (string, error) { return text, nil }
	}
	n.settings.Store(&s)
}

// Close drops waiting notes, cancels the one being sent, and waits until it has ended. It may be called twice.
func (n *Notifier) Close() {
	n.stop()
	n.done.Wait()
}

// Send queues a note. It never blocks: if the queue is full, the note is dropped.
func (n *Notifier) Send(note Note) {
	if !n.settings.Load().sendsNotes() {
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

// Result is the outcome of sending a note to one destination.
type Result struct {
	By  string // "desktop", or the host of the URL
	Err error
}

// Try sends a note now and returns the outcome for each destination, nil if there is none.
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

// message returns the text of the notification.
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
	// Names are not trusted: they are passed as separate arguments, without characters that could be markup.
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

// post sends a note to the URL and returns its host.
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
		reply, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // best effort: only part of the message
		return req.URL.Host, fmt.Errorf("it answers %d: %s", resp.StatusCode, oneLine(string(reply)))
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
	for name, text := range s.Headers {
		value, err := s.Secret(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// oneLine returns a name on one line without invisible characters, cut to maxText characters.
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
