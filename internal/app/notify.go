package app

import (
	"context"

	"collie/internal/config"
	"collie/internal/pipeline/gate/notify"
	"collie/internal/tool"
)

// This file joins notifications, which tell a person elsewhere that a call waits for an answer, to the settings.

// newNotifier returns a notifier with the settings of cfg. The caller closes it.
func newNotifier(cfg *config.Config, opts Options, hide func(secrets []string)) *notify.Notifier {
	n := notify.New(notify.Options{Env: opts.Env.List(), Logger: opts.Logger, Check: config.CheckNotifyURL})
	n.Use(notifySettings(cfg, opts.Env, hide))
	return n
}

// notifySettings returns the settings for notifications. It calls hide with each secret that it reads.
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

// Notified is the outcome of a test notification at one destination.
type Notified struct {
	By    string `json:"by"`              // desktop, or the host of the URL
	Error string `json:"error,omitempty"` // empty if it was sent
}

// TryNotify sends a test notification and returns the outcome for each destination. If the settings have no destination,
// the error is a [tool.Error] of kind Invalid.
func TryNotify(ctx context.Context, cfg *config.Config, opts Options) ([]Notified, error) {
	n := newNotifier(cfg, opts, func([]string) {})
	defer n.Close()
	if s := &cfg.Guard.Notify; !s.Desktop && s.URL == "" {
		return nil, &tool.Error{
			Op: "notify", Kind: tool.Invalid, Subject: "guard.notify", Message: "the settings name no place to send notifications to",
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
