// Package pages serves the pages in the browser, and signs browsers in (ADR 64). The pages are built from web/ in the
// repository and lie in the program as one archive, which go run ./pack in tools makes; nobody needs Node to build Collie.
//
// The entry points are [New] and [Pages.Person].
package pages

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"collie/internal/face/pages/browsers"
	"collie/internal/tool"
)

// Path is where the pages are. Everything below it is public: files that are the same for everybody, and the
// exchange of a link.
const Path = "/pages/"

const (
	sessionPath = Path + "session"
	// keyHeader carries the second secret of a browser. No other site can send it without being asked for leave first.
	keyHeader = "Collie-Browser-Key"
	mostBody  = 4 << 10
)

// Pages are the pages of one gateway. It is safe for concurrent use.
type Pages struct {
	book  *browsers.Book
	files map[string]*asset
	mux   *http.ServeMux
	// record is told of each sign-in.
	record func(context.Context, browsers.Browser)
}

// New returns the pages; record is told of each browser that signs in.
func New(book *browsers.Book, record func(context.Context, browsers.Browser)) (*Pages, error) {
	files, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	p := &Pages{book: book, files: files, mux: http.NewServeMux(), record: record}
	p.mux.HandleFunc("POST "+sessionPath, p.signIn)
	p.mux.HandleFunc("GET "+sessionPath, p.session)
	p.mux.HandleFunc("DELETE "+sessionPath, p.signOut)
	p.mux.HandleFunc("GET "+Path, p.file)
	return p, nil
}

// ServeHTTP serves what lies below [Path].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	p.mux.ServeHTTP(w, r)
}

// policy lets the pages load their own files and ask their own gateway, and nothing else. Long lists and formulas place what they
// show with style attributes, which load nothing that the other rules do not allow.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Person reports whether r comes from a browser in which a person has signed in. signedOut ends when that does.
func (p *Pages) Person(r *http.Request) (signedOut context.Context, ok bool) {
	_, signedOut, ok = p.find(r)
	return signedOut, ok
}

// find returns the browser of a request that a page of ours sent: both secrets are right, and the browser does not
// say that another site is behind it.
func (p *Pages) find(r *http.Request) (browsers.Browser, context.Context, bool) {
	keys, cookies := r.Header[keyHeader], r.CookiesNamed(cookieName(r))
	if len(keys) != 1 || len(cookies) == 0 || !ownPage(r) {
		return browsers.Browser{}, nil, false
	}
	for _, c := range cookies {
		if b, ended, ok := p.book.Find(browsers.Secrets{Cookie: c.Value, Key: keys[0]}, r.Host); ok {
			return b, ended, true
		}
	}
	return browsers.Browser{}, nil, false
}

// ownPage reports whether the headers that a page cannot forge agree that the request comes from this very origin.
// Other ports of this machine are other origins. Browsers leave Origin out where a page reads from its own.
func ownPage(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return len(origins) == 1 && origins[0] == scheme+r.Host
}

// cookieName names the cookie of a gateway. A browser sends cookies to all ports of a host, so gateways on several
// of them would overwrite one that they share.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "collie_browser_" + port
	}
	return "collie_browser"
}

// signIn exchanges a link for the two secrets.
func (p *Pages) signIn(w http.ResponseWriter, r *http.Request) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var asked struct {
		Link string `json:"link"`
	}
	switch {
	case !ownPage(r) || media != "application/json":
		refuse(w, http.StatusForbidden, denied("only the pages of this gateway may sign in", "open the link that collie open shows"))
		return
	case r.TLS == nil && !fromHere(r):
		refuse(w, http.StatusForbidden, denied("other machines sign in over TLS alone", "serve with --tls-cert and --tls-key"))
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil || json.Unmarshal(raw, &asked) != nil || asked.Link == "" {
		refuse(w, http.StatusBadRequest, &tool.Error{Op: "sign in", Kind: tool.Invalid, Subject: "body", Message: `expected {"link":…}`})
		return
	}
	b, secrets, err := p.book.SignIn(r.Context(), asked.Link, r.Host, nameOf(r.UserAgent()))
	if err != nil {
		status := http.StatusInternalServerError
		e, ok := errors.AsType[*tool.Error](err)
		if ok && e.Kind == tool.Denied {
			status = http.StatusForbidden
		}
		refuse(w, status, e)
		return
	}
	p.record(r.Context(), b)
	setCookie(w, r, secrets.Cookie, browsers.Lifetime)
	answer(w, map[string]any{"key": secrets.Key, "browser": b})
}

// session says which browser asks, and renews it.
func (p *Pages) session(w http.ResponseWriter, r *http.Request) {
	b, _, ok := p.find(r)
	if !ok {
		refuse(w, http.StatusUnauthorized, notSignedIn())
		return
	}
	if err := p.book.Renew(r.Context(), b.ID); err == nil {
		for _, c := range r.CookiesNamed(cookieName(r)) {
			if _, _, mine := p.book.Find(browsers.Secrets{Cookie: c.Value, Key: r.Header.Get(keyHeader)}, r.Host); mine {
				setCookie(w, r, c.Value, browsers.Lifetime)
			}
		}
	}
	answer(w, map[string]any{"browser": b})
}

// signOut ends the browser that asks.
func (p *Pages) signOut(w http.ResponseWriter, r *http.Request) {
	b, _, ok := p.find(r)
	if !ok {
		refuse(w, http.StatusUnauthorized, notSignedIn())
		return
	}
	if err := p.book.End(r.Context(), b.ID); err != nil {
		e, _ := errors.AsType[*tool.Error](err)
		refuse(w, http.StatusInternalServerError, e)
		return
	}
	setCookie(w, r, "", -time.Second)
	w.WriteHeader(http.StatusNoContent)
}

// setCookie has the browser keep a secret where no script can read it.
func setCookie(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // loopback has no TLS: Secure is set wherever there is TLS
		Name: cookieName(r), Value: value, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// fromHere reports whether a program on this machine sent r. A proxy may stand for another machine.
func fromHere(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback() && r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == ""
}

// nameOf returns a short name for what calls itself agent.
func nameOf(agent string) string {
	first := func(known ...string) string {
		for i := 0; i < len(known); i += 2 {
			if strings.Contains(agent, known[i]) {
				return known[i+1]
			}
		}
		return ""
	}
	program := first("Edg/", "Edge", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "Safari")
	system := first("Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "Windows", "Windows", "Mac OS", "macOS", "Linux", "Linux")
	switch {
	case program == "":
		return agent
	case system == "":
		return program
	}
	return program + ", " + system
}

func notSignedIn() *tool.Error {
	return &tool.Error{Op: "ask", Kind: tool.Unauthorized, Message: "this browser is not signed in", Hint: "run collie open"}
}

func denied(message, hint string) *tool.Error {
	return &tool.Error{Op: "sign in", Kind: tool.Denied, Message: message, Hint: hint}
}

func refuse(w http.ResponseWriter, status int, e *tool.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(e.Payload()) // an error means that the browser has gone
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v) // strings and times always encode
}
