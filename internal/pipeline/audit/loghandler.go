package audit

import (
	"context"
	"log/slog"
)

// LogHandler returns a handler that passes log records on to next without the secrets that r removes.
func (r *Redactor) LogHandler(next slog.Handler) slog.Handler { return logHandler{next, r} }

// logHandler removes secrets from log records.
type logHandler struct {
	slog.Handler
	secrets *Redactor
}

func (l logHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, l.secrets.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(l.attr(a))
		return true
	})
	return l.Handler.Handle(ctx, clean)
}

func (l logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{l.Handler.WithAttrs(l.attrs(attrs)), l.secrets}
}

func (l logHandler) WithGroup(name string) slog.Handler {
	return logHandler{l.Handler.WithGroup(name), l.secrets}
}

func (l logHandler) attrs(list []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(list))
	for i, a := range list {
		out[i] = l.attr(a)
	}
	return out
}

// attr returns a with a redacted value, or unchanged if it holds no secret.
func (l logHandler) attr(a slog.Attr) slog.Attr {
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
