package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// redacting is a handler of log records that hides the secrets of a server's entry in all
// that is said about the server, by whatever package: errors quote commands, URLs and what
// the server said.
type redacting struct {
	slog.Handler
	redact func(string) string
}

// Handle passes r on without the secrets.
func (d redacting) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, d.redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(d.attr(a))
		return true
	})
	return d.Handler.Handle(ctx, clean)
}

// WithAttrs hides them in what comes later, too.
func (d redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = d.attr(a)
	}
	return redacting{d.Handler.WithAttrs(clean), d.redact}
}

// WithGroup hides them in what comes later, too.
func (d redacting) WithGroup(name string) slog.Handler {
	return redacting{d.Handler.WithGroup(name), d.redact}
}

func (d redacting) attr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(d.redact(v.String()))
	case slog.KindAny: // an error, or anything that the handler would print
		a.Value = slog.StringValue(d.redact(fmt.Sprint(v.Any())))
	case slog.KindGroup:
		list := make([]slog.Attr, len(v.Group()))
		for i, member := range v.Group() {
			list[i] = d.attr(member)
		}
		a.Value = slog.GroupValue(list...)
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindLogValuer:
	}
	return a
}

// redact hides the secrets of the server's entry in a text.
func (s *Server) redact(text string) string {
	for _, secret := range s.settings().Secrets {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
