// Package pages serves the web pages and signs browsers in (ADR 64). The pages are built from web/ and embedded as an
// archive made by go run ./pack in tools, so that Collie can be built without Node.
//
// The entry points are [New] and [Pages.SignedIn].
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
	"sync/atomic"
	"time"

	"collie/internal/face/pages/browsers"
	"collie/internal/tool"
)

// Path is the path of the pages. Everything below it is public: static files, and the exchange of a sign-in link.
const Path = "/pages/"

const (
	sessionPath = Path + "session"
	// keyHeader carries the browser's second secret. A page of another site cannot send it, because a custom header
	// needs permission (CORS preflight).
	keyHeader = "Collie-Browser-Key"
	mostBody  = 4 << 10
)

// Pages serves the pages of one gateway. It is safe for concurrent use.
type Pages struct {
	book    *browsers.Book
	files   map[string]*asset
	mux     *http.ServeMux
	framing atomic.Pointer[string] // the value of frame-ancestors in the policy of the panel
	// record is called for each sign-in.
	record func(context.Context, browsers.Browser)
}

// New returns the pages; record is called for each browser that signs in.
func New(book *browsers.Book, record func(context.Context, browsers.Browser)) (*Pages, error) {
	files, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	p := &Pages{book: book, files: files, mux: http.NewServeMux(), record: record}
	p.mux.HandleFunc("POST "+sessionPath, p.signIn)
	p.mux.HandleFunc("GET "+sessionPath, p.session)
	p.mux.HandleFunc("DELETE "+sessionPath, p.signOut)
	p.mux.HandleFunc("GET "+panelPath, p.panel)
	p.mux.HandleFunc("GET "+Path, p.file)
	p.AllowFrames(nil)
	return p, nil
}

// AllowFrames sets the origins whose pages may show the panel in a frame, each scheme://host[:port] without characters
// that separate words in a policy. At first there are none.
func (p *Pages) AllowFrames(origins []string) {
	ancestors := "'none'"
	if len(origins) > 0 {
		ancestors = strings.Join(origins, " ")
	}
	p.framing.Store(&ancestors)
}

// panel serves the one page that pages of other origins may embed in a frame, with the policy that
// lists these origins.
func (p *Pages) panel(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	ancestors := *p.framing.Load()
	h.Set("Content-Security-Policy", policyBut+ancestors)
	if ancestors != "'none'" {
		h.Del("X-Frame-Options") // it cannot name an origin
	}
	h.Set("Cache-Control", "no-store") // the settings may say otherwise at the next request
	a := p.files["index.html"]
	h.Set("Content-Type", a.kind)
	if err := a.write(w, &http.Request{}); err != nil {
		panic(http.ErrAbortHandler) // the client has disconnected, or the program file is damaged
	}
}

// ServeHTTP serves paths below [Path].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if strings.HasPrefix(r.URL.Path, FramePath) {
		h.Set("Content-Security-Policy", framePolicy)
		h.Set("X-Frame-Options", "SAMEORIGIN")
		h.Del("Cross-Origin-Opener-Policy")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin") // a sandboxed page has no origin, so its own files are cross-origin
	}
	p.mux.ServeHTTP(w, r)
}

// policy allows the pages only their own files and requests to their own gateway. Style attributes are needed for long
// lists and formulas; they cannot load anything that the other rules forbid.
const policy = policyBut + "'none'"

// policyBut is a policy up to the value of frame-ancestors, which says what pages may show this one in a frame.
const policyBut = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self'; font-src 'self'; connect-src 'self'; frame-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors "

// panelPath is the path of the panel: the pages in a frame of another program's window, such as SiYuan's (ADR 74). The page is
// the same, but it shows less there, and the API refuses its requests to change most things.
const panelPath = Path + "panel"

// FramePath is the path of the frame that draws diagrams. The library that draws them is not our own code and inserts
// style sheets, so its page is sandboxed without an origin: it has no secrets, its requests are not authenticated, and
// its policy allows only its own script and style.
const (
	FramePath   = Path + "diagram/"
	framePolicy = "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)

// SignedIn reports whether r comes from a signed-in browser. signedOut ends when the browser is signed out.
func (p *Pages) SignedIn(r *http.Request) (signedOut context.Context, ok bool) {
	_, signedOut, ok = p.find(r)
	return signedOut, ok
}

// find returns the browser that sent a request. Both secrets must be right, and the request must come from our own page.
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

// ownPage reports whether the request comes from our own origin, according to headers that a page cannot forge. Other
// ports of this machine are other origins. Browsers omit Origin for same-origin reads.
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

// cookieName returns the name of this gateway's cookie. Browsers send cookies to all ports of a host, so gateways on
// several ports need different names.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "collie_browser_" + port
	}
	return "collie_browser"
}

// signIn exchanges a link for the two secrets of a browser.
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
	b, secrets, err := p.book.SignIn(r.Context(), asked.Link, r.Host, nameOf(r.UserAgent()), addressOf(r))
	if err != nil {
		status := http.StatusInternalServerError
		e, ok := errors.AsType[*tool.Error](err)
		if ok && e.Kind == tool.Denied {
			status = http.StatusForbidden
		}
		refuse(w, status, e)
		return
	}
	p.record(tool.ActingThrough(r.Context(), tool.PagesClient), b)
	setCookie(w, r, secrets.Cookie, browsers.Lifetime)
	answer(w, map[string]any{"key": secrets.Key, "browser": b})
}

// addressOf returns the network address of the sender of r; empty if it is unknown.
func addressOf(r *http.Request) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return from.Addr().Unmap().String()
}

// session returns the current browser, and extends its session.
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

// signOut signs the current browser out.
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

// setCookie stores a secret in the browser, inaccessible to scripts.
func setCookie(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // loopback has no TLS: Secure is set wherever there is TLS
		Name: cookieName(r), Value: value, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// fromHere reports whether r was sent from this machine and not by a proxy.
func fromHere(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback() && r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == ""
}

// nameOf returns a short name for a browser from its User-Agent.
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
	_, _ = w.Write(e.Payload()) // an error means that the browser is gone
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v) // strings and times always encode
}
