package pages_test

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/face/pages"
	"collie/internal/face/pages/browsers"
)

const (
	host      = "127.0.0.1:7420"
	origin    = "http://" + host
	keyHeader = "Collie-Browser-Key"
)

// site holds the pages under test and the book of browsers that they use.
type site struct {
	*testing.T
	book  *browsers.Book
	pages *pages.Pages
	told  []browsers.Browser
}

func open(t *testing.T) *site {
	t.Helper()
	s := &site{T: t}
	var err error
	if s.book, err = browsers.Open(t.TempDir(), time.Now); err != nil {
		t.Fatal(err)
	}
	if s.pages, err = pages.New(s.book, func(_ context.Context, b browsers.Browser) { s.told = append(s.told, b) }); err != nil {
		t.Fatal(err)
	}
	return s
}

// request returns a request as a browser sends it from one of the pages.
func (s *site) request(method, path, body string) *http.Request {
	r := httptest.NewRequestWithContext(s.Context(), method, path, strings.NewReader(body))
	r.Host, r.RemoteAddr = host, "127.0.0.1:50000"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36")
	if method != http.MethodGet {
		r.Header.Set("Origin", origin)
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// do returns the answer of the pages to a request.
func (s *site) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	return w
}

// signInBody returns the request body, in JSON, that signs a browser in with the secret of a new sign-in link.
func (s *site) signInBody() string {
	secret, _ := s.book.Link()
	return `{"link":"` + secret + `"}`
}

// signIn signs a new browser in. It returns the browser's two secrets and a function that adds both to a request.
func (s *site) signIn() (cookie *http.Cookie, secret string, add func(*http.Request) *http.Request) {
	s.Helper()
	w := s.do(s.request("POST", "/pages/session", s.signInBody()))
	if w.Code != http.StatusOK || len(w.Result().Cookies()) != 1 {
		s.Fatalf("signing in: %d %s", w.Code, w.Body)
	}
	cookie, secret = w.Result().Cookies()[0], gjson.Get(w.Body.String(), "key").String()
	return cookie, secret, func(r *http.Request) *http.Request {
		r.AddCookie(cookie)
		r.Header.Set(keyHeader, secret)
		return r
	}
}

func TestSigningIn(t *testing.T) {
	t.Parallel()
	s := open(t)
	body := s.signInBody()
	w := s.do(s.request("POST", "/pages/session", body))
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	c := w.Result().Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Domain != "" || c.Name != "collie_browser_7420" || c.MaxAge != 30*24*3600 {
		t.Errorf("the cookie is %s", w.Header().Get("Set-Cookie"))
	}
	if strings.Contains(w.Body.String(), c.Value) {
		t.Error("the page gets the cookie, which no script may read")
	}
	if len(s.told) != 1 || s.told[0].Name != "Chrome, Linux" || s.told[0].Host != host {
		t.Errorf("recorded is %v", s.told)
	}
	if again := s.do(s.request("POST", "/pages/session", body)); again.Code != http.StatusForbidden || len(again.Result().Cookies()) > 0 {
		t.Errorf("the link again: %d", again.Code)
	}
}

// Another site, another machine without TLS and a request that does not come from a page are refused, and the link stays valid.
func TestWhoMayNotSignIn(t *testing.T) {
	t.Parallel()
	s := open(t)
	body := s.signInBody()
	for name, change := range map[string]func(*http.Request){
		"another site":       func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"another port":       func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:7421") },
		"another scheme":     func(r *http.Request) { r.Header.Set("Origin", "https://"+host) },
		"a sandboxed page":   func(r *http.Request) { r.Header.Set("Origin", "null") },
		"two origins":        func(r *http.Request) { r.Header.Add("Origin", origin) },
		"no origin":          func(r *http.Request) { r.Header.Del("Origin") },
		"cross-site":         func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"same site":          func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"a form":             func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"another machine":    func(r *http.Request) { r.RemoteAddr = "192.0.2.7:50000" },
		"a proxy":            func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.7") },
		"a proxy, forwarded": func(r *http.Request) { r.Header.Set("Forwarded", "for=192.0.2.7") },
	} {
		r := s.request("POST", "/pages/session", body)
		change(r)
		if w := s.do(r); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := s.do(s.request("POST", "/pages/session", strings.Repeat("x", 10000))); w.Code != http.StatusBadRequest {
		t.Errorf("a long body: %d", w.Code)
	}
	remote := s.request("POST", "/pages/session", body)
	remote.RemoteAddr, remote.TLS = "192.0.2.7:50000", &tls.ConnectionState{}
	remote.Header.Set("Origin", "https://"+host)
	if w := s.do(remote); w.Code != http.StatusOK || !w.Result().Cookies()[0].Secure {
		t.Errorf("another machine over TLS: %d %s", w.Code, w.Header().Get("Set-Cookie"))
	}
}

// A request counts as a person's only with both secrets and from a page of the same origin.
func TestWhoIsAPerson(t *testing.T) {
	t.Parallel()
	s := open(t)
	cookie, secret, add := s.signIn()
	otherCookie, _, _ := s.signIn()
	get := func() *http.Request { return s.request("GET", "/api/v1/questions", "") }
	post := func() *http.Request { return s.request("POST", "/api/v1/questions/x", "{}") }
	for name, r := range map[string]*http.Request{"reading": add(get()), "writing": add(post())} {
		if _, ok := s.pages.SignedIn(r); !ok {
			t.Errorf("%s: not a person", name)
		}
	}
	with := func(r *http.Request, head ...string) *http.Request {
		for i := 0; i < len(head); i += 2 {
			r.Header.Set(head[i], head[i+1])
		}
		return r
	}
	twoKeys := add(get())
	twoKeys.Header.Add(keyHeader, secret)
	elsewhere := add(get())
	elsewhere.Host = "localhost:7420"
	mixed := with(get(), keyHeader, secret)
	mixed.AddCookie(otherCookie)
	cookieAlone := get()
	cookieAlone.AddCookie(cookie)
	for name, r := range map[string]*http.Request{
		"nothing": get(), "cookie alone": cookieAlone, "key alone": with(get(), keyHeader, secret), "two keys": twoKeys, "the cookie of another": mixed,
		"another host": elsewhere, "writing without an origin": func() *http.Request { r := add(post()); r.Header.Del("Origin"); return r }(),
		"another origin": with(add(get()), "Origin", "http://127.0.0.1:3000"), "null": with(add(post()), "Origin", "null"),
		"cross-site": with(add(get()), "Sec-Fetch-Site", "cross-site"), "same site": with(add(get()), "Sec-Fetch-Site", "same-site"),
		"opened by hand": with(add(get()), "Sec-Fetch-Site", "none"),
	} {
		if _, ok := s.pages.SignedIn(r); ok {
			t.Errorf("%s: taken for a person", name)
		}
	}
}

func TestSigningOut(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, _, add := s.signIn()
	if w := s.do(add(s.request("GET", "/pages/session", ""))); w.Code != http.StatusOK || len(w.Result().Cookies()) != 1 {
		t.Errorf("who am I: %d", w.Code)
	}
	ended, ok := s.pages.SignedIn(add(s.request("GET", "/x", "")))
	if !ok || ended.Err() != nil {
		t.Fatal("not signed in")
	}
	if w := s.do(s.request("DELETE", "/pages/session", "")); w.Code != http.StatusUnauthorized {
		t.Errorf("a stranger signs out: %d", w.Code)
	}
	w := s.do(add(s.request("DELETE", "/pages/session", "")))
	if w.Code != http.StatusNoContent || w.Result().Cookies()[0].MaxAge >= 0 || ended.Err() == nil {
		t.Errorf("signing out: %d, %s", w.Code, w.Header().Get("Set-Cookie"))
	}
	if w := s.do(add(s.request("GET", "/pages/session", ""))); w.Code != http.StatusUnauthorized {
		t.Errorf("afterwards: %d", w.Code)
	}
}

// Every answer has headers that forbid frames, foreign files and connections to other hosts.
func TestPolicy(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, path := range []string{"/pages/", "/pages/licenses.txt", "/pages/none", "/pages/session"} {
		h := s.do(s.request("GET", path, "")).Header()
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: %s is not in %q", path, want, csp)
			}
		}
		if rest := strings.Replace(csp, "style-src-attr 'unsafe-inline'", "", 1); strings.Contains(rest, "unsafe") || strings.Contains(csp, "http:") || strings.Contains(csp, "*") || h.Get("X-Frame-Options") != "DENY" ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// Only the panel may be shown in frames, and only in those of the origins that the settings name.
func TestPolicyOfThePanel(t *testing.T) {
	t.Parallel()
	s := open(t)
	shown := func() http.Header {
		w := s.do(s.request("GET", "/pages/panel", ""))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `<div id="app">`) || w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		return w.Header()
	}
	whole := s.do(s.request("GET", "/pages/", "")).Header().Get("Content-Security-Policy")
	if h := shown(); h.Get("Content-Security-Policy") != whole || h.Get("X-Frame-Options") != "DENY" {
		t.Errorf("without a setting: %v", h)
	}
	s.pages.AllowFrames([]string{"http://127.0.0.1:6806", "https://siyuan.example.org"})
	want := strings.Replace(whole, "frame-ancestors 'none'", "frame-ancestors http://127.0.0.1:6806 https://siyuan.example.org", 1)
	if h := shown(); h.Get("Content-Security-Policy") != want || h.Get("X-Frame-Options") != "" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("with origins: %v, want %s", h, want)
	}
	for _, path := range []string{"/pages/", "/pages/index.html", "/pages/licenses.txt", "/pages/none", "/pages/session"} {
		if h := s.do(s.request("GET", path, "")).Header(); h.Get("Content-Security-Policy") != whole || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s may stand in a frame: %v", path, h)
		}
	}
	s.pages.AllowFrames(nil)
	if h := shown(); h.Get("X-Frame-Options") != "DENY" {
		t.Errorf("after the setting has gone: %v", h)
	}
}

// The frame that draws diagrams has no origin, loads only its own files, and may be shown only in Collie's pages.
func TestPolicyOfDiagrams(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, path := range []string{"/pages/diagram/index.html", "/pages/diagram/diagram.js", "/pages/diagram/diagram.css"} {
		w := s.do(s.request("GET", path, ""))
		want := "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
		if h := w.Header(); w.Code != http.StatusOK || h.Get("Content-Security-Policy") != want || h.Get("X-Frame-Options") != "SAMEORIGIN" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", path, w.Code, h)
		}
	}
	page := s.do(s.request("GET", "/pages/diagram/index.html", "")).Body.String()
	if inline := regexp.MustCompile(`<style|<script[^>]*>[^<]|\son\w+=|style=|https?://`).FindString(page); inline != "" {
		t.Errorf("%q is in %s", inline, page)
	}
}

func TestThePageHasNothingInline(t *testing.T) {
	t.Parallel()
	page := open(t).do(open(t).request("GET", "/pages/", "")).Body.String()
	if inline := regexp.MustCompile(`<style|<script[^>]*>[^<]|\son\w+=|style=|https?://`).FindString(page); inline != "" || !strings.Contains(page, "<script") {
		t.Errorf("%q is in %s", inline, page)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := open(t)
	index := s.do(s.request("GET", "/pages/", ""))
	tag := index.Header().Get("ETag")
	if index.Code != http.StatusOK || index.Header().Get("Cache-Control") != "no-cache" || !strings.HasPrefix(tag, `W/"`) {
		t.Fatalf("%d %v", index.Code, index.Header())
	}
	again := s.request("GET", "/pages/", "")
	again.Header.Set("If-None-Match", tag)
	if w := s.do(again); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("asked with its tag: %d", w.Code)
	}
	script := regexp.MustCompile(`/pages/assets/[^"]+\.js`).FindString(index.Body.String())
	plain := s.do(s.request("GET", script, ""))
	if plain.Header().Get("Content-Encoding") != "" || !strings.Contains(plain.Header().Get("Cache-Control"), "immutable") ||
		plain.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("%s: %v", script, plain.Header())
	}
	for accept, packed := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "deflate , gzip": true, "gzip;q=0": false, "gzip; q=0.000": false, "br": false} {
		r := s.request("GET", script, "")
		r.Header.Set("Accept-Encoding", accept)
		w := s.do(r)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("Accept-Encoding: %s: packed %t", accept, got)
			continue
		} else if !packed {
			continue
		}
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(z); err != nil || string(text) != plain.Body.String() {
			t.Errorf("Accept-Encoding: %s: unpacked it is another file (%v)", accept, err)
		}
	}
	for _, path := range []string{"/pages/none", "/pages/assets/", "/pages/../pages.zip", "/pages/assets/../../x"} {
		if w := s.do(s.request("GET", path, "")); w.Code == http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := s.do(s.request("POST", "/pages/", "")); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// The archive contains the licences of all packages in it.
func TestLicences(t *testing.T) {
	t.Parallel()
	s := open(t)
	text := s.do(s.request("GET", "/pages/licenses.txt", "")).Body.String()
	for _, library := range []string{"svelte", "marked", "dompurify"} {
		if !regexp.MustCompile(`(?m)^` + library + ` \d`).MatchString(text) {
			t.Errorf("the licence of %s is missing", library)
		}
	}
}
