package signin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"golang.org/x/oauth2"

	"collie/internal/tool"
)

// This file has the errors of signing in.

const op = "sign in"

// NeedsAuthError says that the request cannot work before a person signs in, or grants more scopes. It is also a
// [tool.Error] of kind [tool.NeedsAuth].
type NeedsAuthError struct {
	Server string
	// Scopes are those for a new sign-in: the granted and the missing ones.
	Scopes []string

	byItself bool  // the client signs in by itself; a person cannot
	err      error // why it was refused
}

// Error says what is missing and what to do.
func (e *NeedsAuthError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the same error as a [*tool.Error].
func (e *NeedsAuthError) Unwrap() error {
	out := &tool.Error{Op: op, Subject: e.Server}
	cause, known := errors.AsType[*tool.Error](e.err)
	if known {
		*out = *cause
	}
	out.Kind, out.Hint = tool.NeedsAuth, "collie mcp auth "+e.Server
	if e.byItself {
		out.Hint = CredentialsHint(e.Server)
	}
	switch {
	case known:
	case len(e.Scopes) > 0:
		out.Message = "the sign-in does not cover this; it has to ask for " + strings.Join(e.Scopes, " ")
	default:
		out.Message = "nobody is signed in"
	}
	return out
}

// CredentialsHint returns what a user can do if a client that signs in by itself is refused.
func CredentialsHint(server string) string {
	return "check auth.clientId and auth.clientSecret of " + server + " in the settings, and what the authorization server lets that client do"
}

// failed wraps the error of one step of a sign-in.
func (s *Session) failed(step string, err error) error {
	kind := tool.Unavailable
	if e, ok := errors.AsType[*tool.Error](err); ok {
		kind = e.Kind
	}
	return &tool.Error{Op: op, Kind: kind, Subject: s.server.Name, Message: step, Err: err}
}

// oauthError is an error response of the authorization server (RFC 6749, sections 4.1.2.1 and 5.2).
type oauthError struct {
	Code, Description string
	Status            int // 0 if it came by redirect
}

// Error quotes the server.
func (e *oauthError) Error() string {
	text := quoted(e.Code)
	if text == "" {
		text = http.StatusText(e.Status)
	}
	if text == "" {
		text = fmt.Sprint("status ", e.Status)
	}
	if d := quoted(e.Description); d != "" {
		text += " (" + d + ")"
	}
	return "the authorization server says " + text
}

// isFinal reports whether this refusal means that a refresh token is dead: it is invalid_grant, or another refusal that
// waiting would not change.
func (e *oauthError) isFinal() bool {
	switch {
	case e.Code == "temporarily_unavailable", e.Code == "server_error", e.Code == "slow_down":
		return false
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusTooManyRequests:
		return false
	case e.Status >= 500 && e.Code != "invalid_grant": // web frameworks describe their own failures in a member "error"
		return false
	}
	return e.Code != "" || e.Status >= 400 && e.Status < 500
}

// clientUnknown reports whether the server no longer knows the client.
func (e *oauthError) clientUnknown() bool {
	return e.Code == "invalid_client" || e.Code == "unauthorized_client"
}

// tokenError converts an error of x/oauth2, whose text may quote secrets, to a refusal.
func tokenError(err error) error {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	out := &oauthError{Code: e.ErrorCode, Description: e.ErrorDescription}
	if e.Response != nil {
		out.Status = e.Response.StatusCode
	}
	return out
}

// quoted returns a foreign text in a form that is safe to show: one short line.
func quoted(s string) string {
	const limit = 200
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }), " ")
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return s
}
