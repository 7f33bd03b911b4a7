package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// This file has a kernel's token in a form that is never printed or logged.

// Token is a kernel's token. It prints, logs and encodes as "configured" or "empty"; only [Token.Reveal] returns it.
type Token struct{ text string }

// Reveal returns the token. Call it only where the token is sent.
func (t Token) Reveal() string { return t.text }

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t.text == "" }

// String returns the form that people may see.
func (t Token) String() string {
	if t.text == "" {
		return "empty"
	}
	return "configured"
}

// GoString keeps %#v from printing the token.
func (t Token) GoString() string { return "connection.Token(" + t.String() + ")" }

// LogValue returns the form that logs may show.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText encodes the form that may be shown.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Equal reports whether two tokens are the same.
func (t Token) Equal(u Token) bool { return t.text == u.text }

// The forms of a token that refer to another text.
const (
	fromEnv      = "env:"
	fromCommand  = "cmd:"
	readVariable = "${"
)

// isReference reports whether a written token is a reference rather than a secret.
func isReference(s string) bool {
	return strings.HasPrefix(s, fromEnv) || strings.HasPrefix(s, fromCommand) || strings.Contains(s, readVariable)
}

// resolveToken returns the token to which a connection's written token refers.
func (in *Inputs) resolveToken(ctx context.Context, c Connection) (Token, error) {
	s, err := c.Written.text, error(nil)
	switch {
	case c.literal:
	case strings.HasPrefix(s, fromEnv):
		s, err = in.variable(strings.TrimPrefix(s, fromEnv))
	case strings.HasPrefix(s, fromCommand):
		s, err = in.runCommand(ctx, strings.TrimSpace(strings.TrimPrefix(s, fromCommand)))
	case strings.Contains(s, readVariable):
		s, err = in.expandSecrets(s)
	}
	if err != nil {
		return Token{}, err
	}
	return usableToken(s)
}

// usableToken checks that a token can be sent in a header.
func usableToken(s string) (Token, error) {
	s = strings.TrimSpace(s)
	for _, r := range s {
		if r <= ' ' || r == 0x7f || r > 0xff {
			return Token{}, errors.New("a token is one word; this has blanks, line breaks or characters that no token has")
		}
	}
	return Token{s}, nil
}

func (in *Inputs) variable(name string) (string, error) {
	if in.Env != nil {
		if v, ok := in.Env(name); ok && strings.TrimSpace(v) != "" {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s is not set; set it, or write another token", name)
}

func (in *Inputs) runCommand(ctx context.Context, line string) (string, error) {
	if in.Command == nil {
		return "", errors.New("no program can be run here for a token; use ${secret:NAME} or env:NAME")
	}
	out, err := in.Command(ctx, line)
	if err != nil {
		return "", fmt.Errorf("the command for it failed: %w", err) // without the command line, which may contain secrets
	}
	if strings.TrimSpace(out) == "" {
		return "", errors.New("the command for it printed nothing, expected the token")
	}
	return out, nil
}

func (in *Inputs) expandSecrets(s string) (string, error) {
	if in.Expand == nil {
		return "", errors.New("${…} has no meaning here; use env:NAME")
	}
	return in.Expand(s)
}
