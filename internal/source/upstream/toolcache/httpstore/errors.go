package httpstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"unicode"

	"collie/internal/tool"
)

func closedError(op string) error {
	return &tool.Error{Op: op, Kind: tool.Unavailable, Message: "the shared tool cache is closed", Err: os.ErrClosed}
}

// unreachable explains why there is no answer.
func (s *Store) unreachable(ctx context.Context, op string, err error) error {
	e := &tool.Error{
		Op: op, Kind: tool.Unavailable, Subject: s.base.String(), Message: "no answer", Err: err,
		Hint: "is the other Collie running, and is this its address?",
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, os.ErrClosed):
		return closedError(op)
	case errors.Is(cause, context.Canceled):
		e.Kind, e.Message, e.Hint, e.Err = tool.Canceled, "", "", cause
	case errors.Is(cause, context.DeadlineExceeded):
		e.Kind, e.Err = tool.Timeout, cause
	case errors.Is(err, errTooLarge):
		e.Kind, e.Message, e.Hint = tool.TooLarge, "too much to send", ""
	}
	return e
}

// nonsense is an answer that no Collie gives.
func (s *Store) nonsense(op, what string, err error) error {
	return &tool.Error{
		Op: op, Kind: tool.Upstream, Subject: s.base.String(), Message: "the peer sent " + what, Err: err,
		Hint: "is a Collie of this version behind this address, and no other program or login page?",
	}
}

// refused explains an answer by its status.
func (s *Store) refused(op string, resp *http.Response) error {
	e := &tool.Error{Op: op, Kind: tool.Unavailable, Subject: s.base.String(), Message: fmt.Sprintf("the peer answered %d", resp.StatusCode)}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		e.Kind, e.Hint = tool.Denied, "check the token of the shared cache: it must be one that the peer accepts"
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		e.Hint = "the peer shares no tool cache: is it a Collie, and is sharing switched on there?"
	case code == http.StatusRequestEntityTooLarge:
		e.Kind = tool.TooLarge
	case code >= 300 && code < 400:
		e.Hint = "redirects are not followed; if it is meant, use the address " + plain(resp.Header.Get("Location"))
	case code >= 400 && code < 500:
		e.Kind, e.Hint = tool.Upstream, "do both run versions of Collie that fit each other?"
	}
	if said := reason(resp); said != "" {
		e.Message += ": " + said
	}
	return e
}

// reason is what the peer says of its refusal.
func reason(resp *http.Response) string {
	if resp.Header.Get("Content-Encoding") != "" {
		return ""
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 8<<10))
	if err != nil {
		return ""
	}
	var body struct {
		Error struct {
			Message string `json:"message"`
			Hint    string `json:"hint"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	return plain(cmp.Or(body.Error.Message, body.Error.Hint))
}

// plain makes a line of text that is fit for a terminal out of what a peer has sent.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, ""))
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}
