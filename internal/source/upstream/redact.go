package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// redactingHandler is a log handler that masks the secrets of a server's entry in every record about that server,
// whichever package wrote it: errors quote commands, URLs and the server's own words.
type redactingHandler struct {
	slog.Handler
	redact func(string) string
}

// Handle forwards r with its secrets masked.
func (d redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, d.redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(d.attr(a))
		return true
	})
	return d.Handler.Handle(ctx, clean)
}

// WithAttrs returns a handler that masks secrets as well.
func (d redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = d.attr(a)
	}
	return redactingHandler{d.Handler.WithAttrs(clean), d.redact}
}

// WithGroup returns a handler that masks secrets as well.
func (d redactingHandler) WithGroup(name string) slog.Handler {
	return redactingHandler{d.Handler.WithGroup(name), d.redact}
}

func (d redactingHandler) attr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(d.redact(v.String()))
	case slog.KindAny: // an error, or anything else that the handler would format as text
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

// leastLine is how long a line of a secret with several lines is at least to be masked by itself, in bytes. Shorter ones
// match by chance.
const leastLine = 8

// maxHidden bounds how many printed secrets are masked: those of connections that are open still, and of some before.
const maxHidden = 64

// hide has redact mask secrets that are not in the settings, beside those before.
func (s *Server) hide(secrets []string) {
	for {
		old := s.hidden.Load()
		all := slices.Clone(secrets)
		if old != nil {
			all = slices.Concat(slices.DeleteFunc(slices.Clone(*old), func(t string) bool { return slices.Contains(secrets, t) }), secrets)
		}
		all = all[min(max(0, len(all)-maxHidden), len(all)-len(secrets)):]
		if s.hidden.CompareAndSwap(old, &all) {
			return
		}
	}
}

// redact masks the secrets of the server's entry in a text, and those that its headersCommand printed. Secrets of fewer than 4 bytes stay, because they would match
// by chance. Of a secret with several lines, such as a key, each line is masked too, since output comes line by line.
func (s *Server) redact(text string) string {
	secrets := s.settings().Secrets
	if printed := s.hidden.Load(); printed != nil {
		secrets = slices.Concat(secrets, *printed)
	}
	if len(secrets) > 1 { // longer ones first, since one may be a part of another
		secrets = slices.SortedStableFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	}
	for _, secret := range secrets {
		if len(secret) < 4 {
			continue
		}
		text = strings.ReplaceAll(text, secret, "***")
		if !strings.Contains(secret, "\n") {
			continue
		}
		for line := range strings.Lines(secret) {
			if line = strings.TrimSpace(line); len(line) >= leastLine {
				text = strings.ReplaceAll(text, line, "***")
			}
		}
	}
	return text
}
