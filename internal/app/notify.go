package app

import (
	"context"
	"sync"
	"time"

	"collie/internal/config"
	"collie/internal/event"
	"collie/internal/pipeline/gate"
	"collie/internal/pipeline/gate/notify"
	"collie/internal/tool"
)

// notifyAfter is how long a person who is asked in front of a program may take until they count as elsewhere.
const notifyAfter = 5 * time.Second

// notifications tell a person who is elsewhere that they are asked. The zero value tells nobody.
type notifications struct {
	*notify.Notifier
	asked *event.Subscription[gate.Asked]
	ended sync.WaitGroup
}

// newNotifier returns what sends notifications as cfg says. The caller closes it.
func newNotifier(cfg *config.Config, opts Options, hide func(secrets []string)) *notify.Notifier {
	n := notify.New(notify.Options{Env: opts.Env.List(), Logger: opts.Logger, Check: config.CheckNotifyURL})
	n.Use(notifySettings(cfg, opts.Env, hide))
	return n
}

// notifySettings returns where notifications go. hide is told each secret that is read.
func notifySettings(cfg *config.Config, env config.Env, hide func(secrets []string)) notify.Settings {
	n, read := &cfg.Guard.Notify, secretReader(cfg, env)
	return notify.Settings{
		Desktop: n.Desktop, URL: n.URL, Headers: n.Headers, Format: notify.Format(n.Format),
		Secret: func(ctx context.Context, written string) (string, error) {
			value, err := read(ctx, written)
			if value != written {
				hide([]string{value})
			}
			return value, err
		},
	}
}

// notifyPeople begins to tell of questions.
func (a *App) notifyPeople(cfg *config.Config, opts Options) {
	a.notices.Notifier, a.notices.asked = newNotifier(cfg, opts, a.hide), a.asked.Subscribe(maxQueuedCalls)
	a.notices.ended.Go(a.notices.follow) // ends with the subscription
}

// follow sends a note for each question that is not answered at once.
func (n *notifications) follow() {
	waiting := map[string]*time.Timer{} // by call
	defer func() {
		for _, t := range waiting {
			t.Stop()
		}
	}()
	for q := range n.asked.C() {
		id := q.Call.ID
		switch {
		case q.Code != "":
			n.Send(noteOf(q.Call, "collie confirm "+q.Code))
		case q.Answer != "":
			if t := waiting[id]; t != nil {
				t.Stop()
				delete(waiting, id)
			}
		case q.Call.Origin == tool.Direct: // the person typed the call
		default:
			note := noteOf(q.Call, whereAsked(q.Call))
			waiting[id] = time.AfterFunc(notifyAfter, func() { n.Send(note) })
		}
	}
}

// noteOf tells of a question about c without any of its arguments.
func noteOf(c *tool.Call, answer string) notify.Note {
	risk, _ := c.Action.Rated()
	if c.Finding != nil && c.Finding.Risk != tool.RiskUnknown {
		risk = c.Finding.Risk
	}
	return notify.Note{Tool: c.Subject(), Client: c.Client, Risk: risk, Answer: answer}
}

// whereAsked says where the person of c sees the question.
func whereAsked(c *tool.Call) string {
	switch {
	case c.Origin == tool.Chat || c.Origin == tool.CLIAgent:
		return "in the conversation that waits for you"
	case c.Client != "":
		return "in " + c.Client
	}
	return "in the client that asks"
}

func (n *notifications) close() {
	if n.Notifier == nil {
		return
	}
	n.asked.Close()
	n.ended.Wait()
	n.Close()
}

// Notified is what became of a notification on trial.
type Notified struct {
	By    string `json:"by"`              // desktop, or the host that was posted to
	Error string `json:"error,omitempty"` // empty if it was sent
}

// TryNotify sends a notification as cfg says, and returns what became of it at each place. Without a place in the settings
// the error is a [tool.Error] of kind Invalid.
func TryNotify(ctx context.Context, cfg *config.Config, opts Options) ([]Notified, error) {
	n := newNotifier(cfg, opts, func([]string) {})
	defer n.Close()
	if s := &cfg.Guard.Notify; !s.Desktop && s.URL == "" {
		return nil, &tool.Error{
			Op: "notify", Kind: tool.Invalid, Subject: "guard.notify", Message: "the settings name nowhere to notify you",
			Hint: "set guard.notify.desktop to true, or guard.notify.url",
		}
	}
	var out []Notified
	for _, r := range n.Try(ctx, notify.Note{Tool: "notes.example", Client: "collie guard notify", Answer: "nowhere, this is a test"}) {
		one := Notified{By: r.By}
		if r.Err != nil {
			one.Error = r.Err.Error()
		}
		out = append(out, one)
	}
	return out, nil
}
