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

const (
	maxRefusal  = 1 << 20 // bytes read of a refusal's body
	maxExcerpt  = 2 << 10 // bytes of it for people
	maxTries    = 5       // of one request
	leastRepeat = 100 * time.Millisecond
)

// refused reads an answer whose status is not 2xx: a Response that answers the request, a
// LinkError, or both (see [httpLink]).
func (x *roundTrip) refused(resp *http.Response) (Response, *LinkError) {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // as much as can be had
	_ = resp.Body.Close()
	r, own := x.answerIn(raw)
	e := &LinkError{Sent: true, Status: resp.StatusCode, Header: refusalHeader(resp.Header), Body: excerpt(raw)}
	switch status := resp.StatusCode; {
	case status == http.StatusNotFound && x.state.header[headerSession] != nil && !isNoMethod(r, own) && !IsModern(x.version()):
		e.Err = errSessionGone
	case r.Error == nil && r.Result == nil || isAboutAccess(status):
	case own || status < 500:
		return r, nil
	}
	return r, e
}

// answerIn returns the answer in a refusal's body, if it can be meant for this request, and
// whether it names the request's id. An error may stand there without one; a result, which
// some servers send under any status, may not.
func (x *roundTrip) answerIn(raw []byte) (r Response, own bool) {
	m, err := Parse(tidy(raw))
	if err != nil || !m.IsResponse() || x.id == 0 || !x.isMine(&m) {
		return Response{}, false
	}
	own = m.ID != "" && m.ID != "null"
	if m.Error == nil {
		return Response{Result: m.Result, IsError: m.IsError, ResultType: m.ResultType}, own
	}
	code := errorCode(m.Error)
	if !own && !(code >= -32099 && code <= -32000 || code >= CodeInternal && code <= CodeInvalidRequest || code == codeParse) {
		return Response{}, false
	}
	return Response{Error: m.Error}, own
}

// isNoMethod tells the modern answer to an unknown method, which is a 404 too, from the
// loss of a session.
func isNoMethod(r Response, own bool) bool {
	return own && errorCode(r.Error) == CodeMethodNotFound
}

func errorCode(obj json.RawMessage) int {
	code, _ := strconv.Atoi(string(Get(obj, "code")))
	return code
}

// isAboutAccess reports whether a status speaks of who asks, or how often, and not of what
// is asked.
func isAboutAccess(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return false
}

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

// excerpt returns the beginning of a body for people.
func excerpt(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), maxExcerpt)]), "")
}

// again reports whether a refused request is to be sent again now. It waits as long as the
// server asks for, if the caller's deadline allows.
func (x *roundTrip) again(e *LinkError) (bool, error) {
	if errors.Is(e, errSessionGone) { // opened anew by another request meanwhile?
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
	wait = max(wait, leastRepeat)
	if end, ok := x.caller.Deadline(); ok && time.Until(end) < wait || !ok && wait > time.Minute {
		return false, nil
	}
	return true, pause(x.ctx, wait)
}

// onlyReads reports whether a request has no effect that a repetition could double.
func onlyReads(method string) bool {
	switch method {
	case "ping", "initialize", "server/discover", "resources/read", "resources/templates/list", "prompts/get", "completion/complete":
		return true
	}
	return strings.HasSuffix(method, "/list")
}

// retryAfter reads a Retry-After header: seconds, or a date.
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

// redirect returns where resp sends a request with this method, "" for nowhere. A request
// that is not GET or HEAD follows only those redirects that keep its method and body.
func redirect(resp *http.Response, method string) string {
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

// follow judges a redirect. The server gave us the address, and a request carries what its caller
// wrote, and headers that open doors: both stay at the origin that the user has named. The same
// host with TLS in the place of none is that origin too, without the user's headers.
func (w *httpWire) follow(from *url.URL, location string) (*url.URL, error) {
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

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
