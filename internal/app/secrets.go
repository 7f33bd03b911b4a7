package app

import (
	"context"
	"log/slog"
	"strings"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	"collie/internal/source/upstream"
)

// secrets returns the secrets that are known from settings and environment: those of server entries and keys of
// providers. Others become known when they are read.
func secrets(cfg *config.Config, env config.Env, specs []upstream.Spec) []string {
	var out []string
	for _, s := range specs {
		out = append(out, s.Entry.Secrets...)
	}
	for _, p := range cfg.Providers {
		for _, k := range p.Keys {
			if name, is := strings.CutPrefix(k.Secret, "env:"); is {
				out = append(out, strings.TrimSpace(env.Get(name)))
			} else if config.ShownSecret(k.Secret) != k.Secret {
				out = append(out, strings.TrimSpace(k.Secret))
			}
		}
	}
	return out
}

// redactors remove secrets from what an App writes besides its audit.
type redactors struct {
	logs, chats *audit.Redactor
}

func newHidden(secrets []string) redactors {
	return redactors{logs: audit.NewRedactor(secrets, audit.ContentFull), chats: audit.NewRedactor(secrets, audit.ContentRedacted)}
}

// hide adds secrets that must not be written anywhere.
func (a *App) hide(secrets []string) {
	a.Audit.Hide(secrets)
	a.hidden.logs.Hide(secrets)
	a.hidden.chats.Hide(secrets)
	if a.counting.redact != nil {
		a.counting.redact.Hide(secrets)
	}
}

// redactingHandler removes secrets from log records.
type redactingHandler struct {
	slog.Handler
	secrets *audit.Redactor
}

func (l redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, l.secrets.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(l.attr(a))
		return true
	})
	return l.Handler.Handle(ctx, clean)
}

func (l redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return redactingHandler{l.Handler.WithAttrs(l.attrs(attrs)), l.secrets}
}

func (l redactingHandler) WithGroup(name string) slog.Handler {
	return redactingHandler{l.Handler.WithGroup(name), l.secrets}
}

func (l redactingHandler) attrs(list []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(list))
	for i, a := range list {
		out[i] = l.attr(a)
	}
	return out
}

// attr returns a with a redacted value, or unchanged if it holds no secret.
func (l redactingHandler) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindGroup:
		a.Value = slog.GroupValue(l.attrs(a.Value.Group())...)
	case slog.KindString, slog.KindAny:
		was := a.Value.String()
		if text := l.secrets.Text(was); text != was {
			a.Value = slog.StringValue(text)
		}
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindLogValuer:
	}
	return a
}
