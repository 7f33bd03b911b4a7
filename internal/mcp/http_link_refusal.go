package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// This file interprets HTTP answers other than success: errors, lost sessions, retries and redirects.

const (
	maxRefusal    = 1 << 20 // bytes read of a refusal's body
	maxExcerpt    = 2 << 10 // bytes of the body shown to people
	maxTries      = 5       // attempts for one request
	minRetryDelay = 100 * time.Millisecond
)

// readRefusal reads an answer whose status is not 2xx. It returns a Response that answers the request, a
// LinkError, or both; see [httpLink].
func (x *roundTrip) readRefusal(resp *http.Response) (Response, *LinkError) {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // ignore the error: part of the body is better than nothing
	_ = resp.Body.Close()
	r, isAnswer := x.answerIn(raw)
	e := &LinkError{Sent: true, Status: resp.StatusCode, Header: refusalHeader(resp.Header), Body: excerpt(raw)}
	switch status := resp.StatusCode; {
	case status == http.StatusNotFound && x.state.header[headerSession] != nil && !isNoMethod(r, isAnswer) && !IsModern(x.version()):
		e.Err = errSessionGone
	case r.Error == nil && r.Result == nil || isAboutAccess(status):
	case isAnswer || status < 500:
		return r, nil
	}
	return r, e
}

// answerIn looks for an answer to this request in the body of a refusal. isAnswer reports whether it has the
// request's id. An error counts without an id too. A result, which some servers send under any status, needs
// the id.
func (x *roundTrip) answerIn(raw []byte) (r Response, isAnswer bool) {
	m, err := Parse(tidy(raw))
	if err != nil || !m.IsResponse() || x.id == 0 || !x.isMine(&m) {
		return Response{}, false
	}
	isAnswer = m.ID != "" && m.ID != "null"
	if m.Error == nil {
		return Response{Result: m.Result, IsError: m.IsError, ResultType: m.ResultType}, isAnswer
	}
	code := errorCode(m.Error)
	if !isAnswer && !(code >= -32099 && code <= -32000 || code >= CodeInternal && code <= CodeInvalidRequest || code == codeParse) {
		return Response{}, false
	}
	return Response{Error: m.Error}, isAnswer
}

// isNoMethod distinguishes the modern answer to an unknown method from the loss of a session; both come with
// status 404.
func isNoMethod(r Response, isAnswer bool) bool {
	return isAnswer && errorCode(r.Error) == CodeMethodNotFound
}

// errorCode returns the code of a JSON-RPC error object, 0 if it has none.
func errorCode(obj json.RawMessage) int {
	code, _ := strconv.Atoi(string(Get(obj, "code")))
	return code
}

// isAboutAccess reports whether a status concerns the sender or the rate of requests, and not the request
// itself.
func isAboutAccess(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return false
}

// refusalHeader returns the headers that callers need to handle a refusal.
func refusalHeader(h http.Header) map[string]string {
	var out map[string]string
	for _, name := range []string{"WWW-Authenticate", "Retry-After"} {
		if v := h.Values(name); len(v) > 0 {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = strings.Join(v, ", ")
		}
	}
	return out
}

// excerpt returns the beginning of a body, for people to read.
func excerpt(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), maxExcerpt)]), "")
}

// shouldRetry reports whether a refused request is to be sent again now. Before that it waits as long as the server
// asks, if the caller's deadline allows.
func (x *roundTrip) shouldRetry(e *LinkError) (bool, error) {
	if errors.Is(e, errSessionGone) { // another request may have opened a new session meanwhile
		now := x.link.state.Load()
		return now.session != "" && now.session != x.state.session, nil
	}
	if e.Status != http.StatusTooManyRequests && !(e.Status == http.StatusServiceUnavailable && onlyReads(x.req.Method)) {
		return false, nil
	}
	wait, ok := retryAfter(e.Header["Retry-After"], time.Now())
	if !ok {
		return false, nil
	}
	wait = max(wait, minRetryDelay)
	if end, ok := x.caller.Deadline(); ok && time.Until(end) < wait || !ok && wait > time.Minute {
		return false, nil
	}
	return true, pause(x.ctx, wait)
}

// onlyReads reports whether requests of method only read, so that they may be repeated.
func onlyReads(method string) bool {
	switch method {
	case "ping", "initialize", "server/discover", "resources/read", "resources/templates/list", "prompts/get", "completion/complete":
		return true
	}
	return strings.HasSuffix(method, "/list")
}

// retryAfter parses a Retry-After header: seconds or a date.
func retryAfter(v string, now time.Time) (time.Duration, bool) {
	if s, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(s) * time.Second, true
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(now), 0), true
	}
	return 0, false
}

const maxRedirects = 5

// redirectTarget returns the target of a redirect for a request with this method, "" if there is none. A method
// other than GET and HEAD follows only redirects that keep method and body.
func redirectTarget(resp *http.Response, method string) string {
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if method != http.MethodGet && method != http.MethodHead {
			return ""
		}
	default:
		return ""
	}
	return resp.Header.Get("Location")
}

// checkRedirect checks a redirect and returns its target. The server chose the address, but the request carries the
// caller's data and headers that grant access. Both may go only to the origin that the user named. The same
// host with https instead of http is also accepted, without the user's headers.
func (w *httpWire) checkRedirect(from *url.URL, location string) (*url.URL, error) {
	to, err := from.Parse(location)
	if err != nil {
		return nil, errors.New("redirect to a location that does not parse")
	}
	to.User = nil
	refuse := func(why string) (*url.URL, error) {
		return nil, fmt.Errorf("redirect to %s://%s refused: %s", to.Scheme, to.Host, why)
	}
	switch {
	case to.Scheme != "http" && to.Scheme != "https" || to.Host == "":
		return refuse("expected http or https")
	case from.Scheme == "https" && to.Scheme == "http":
		return refuse("it gives TLS up")
	case sameOrigin(from, to):
		return to, nil
	case w.socket:
		return refuse("it leaves the socket")
	case from.Scheme == "http" && to.Scheme == "https" && strings.EqualFold(from.Hostname(), to.Hostname()):
		return to, nil
	}
	return refuse("it is another origin; if the server has moved there, make that its url")
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a == b || a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// port returns the port of a URL, or the default of its scheme.
func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
