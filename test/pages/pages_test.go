package pages_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/gateway"
)

func TestMain(m *testing.M) { os.Exit(gateway.BuildAndRun(m)) }

// browser sends requests as a browser does that is signed in to a gateway, with the cookies and the key that it
// keeps.
type browser struct {
	*testing.T
	gateway *gateway.Gateway
	cookies []*http.Cookie
	key     string
}

// makeSignInLink makes a sign-in link, as `collie open` does, and returns the secret in it.
func makeSignInLink(t *testing.T, g *gateway.Gateway) string {
	t.Helper()
	status, raw := g.Ask(t, http.MethodPost, "/browsers/links", "{}")
	address, secret, found := strings.Cut(gjson.GetBytes(raw, "address").String(), "#link=")
	if status != http.StatusCreated || !found || address != g.URL+"/pages/" {
		t.Fatalf("a link: %d %s", status, raw)
	}
	return secret
}

// signIn signs a new browser in with the secret of a link.
func signIn(t *testing.T, g *gateway.Gateway, secret string) *browser {
	t.Helper()
	b := &browser{T: t, gateway: g}
	resp, body := b.send(http.MethodPost, "/pages/session", `{"link":"`+secret+`"}`)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("signing in: %d %s", resp.StatusCode, body)
	}
	b.cookies, b.key = resp.Cookies(), gjson.Get(body, "key").String()
	return b
}

// send sends a request as a page of the gateway does. head has names and values of further headers in turn; an empty
// value removes a header.
func (b *browser) send(method, path, body string, head ...string) (resp *http.Response, answer string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.gateway.URL+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method != http.MethodGet {
		r.Header.Set("Origin", b.gateway.URL)
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	r.Header.Set("Collie-Browser-Key", b.key)
	for i := 0; i < len(head); i += 2 {
		if r.Header.Set(head[i], head[i+1]); head[i+1] == "" {
			r.Header.Del(head[i])
		}
		if head[i] == "Host" {
			r.Host = head[i+1]
		}
	}
	if resp, err = http.DefaultClient.Do(r); err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return resp, string(raw)
}

// sendForStatus sends a request as send does, and returns only the status of the answer.
func (b *browser) sendForStatus(method, path, body string, head ...string) int {
	b.Helper()
	resp, _ := b.send(method, path, body, head...)
	return resp.StatusCode
}

// A signed-in browser manages the gateway, other programs cannot pass for it, and it stays signed in until a person
// signs it out.
func TestSignedInBrowser(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, nil, `"siyuan":{}`)
	g := p.Serve(t, settings)
	b := signIn(t, g, makeSignInLink(t, g))

	// The browser manages as the command line does. Other programs cannot, with the keys that they can get.
	if got := b.sendForStatus(http.MethodGet, "/api/v1/browsers", ""); got != http.StatusOK {
		t.Errorf("the browser itself: %d", got)
	}
	token, _, bridge := g.Keys(t)
	for name, head := range map[string][]string{
		"the token":              {"Collie-Browser-Key", "", "Cookie", "", "Authorization", "Bearer " + token},
		"the bridge":             {"Collie-Browser-Key", "", "Cookie", "", "Authorization", "Bearer " + bridge},
		"the token and a cookie": {"Authorization", "Bearer " + token},
		"the cookie alone":       {"Collie-Browser-Key", ""},
		"the key alone":          {"Cookie", ""},
		"another origin":         {"Origin", "http://127.0.0.1:1"},
		"no origin":              {"Origin", ""},
		"another site":           {"Sec-Fetch-Site", "cross-site"},
		"another name":           {"Host", strings.Replace(strings.TrimPrefix(g.URL, "http://"), "127.0.0.1", "localhost", 1)},
		"a rebound name":         {"Host", "evil.example"},
	} {
		if got := b.sendForStatus(http.MethodPost, "/api/v1/browsers/links", "{}", head...); got != http.StatusUnauthorized && got != http.StatusForbidden {
			t.Errorf("%s makes a link: %d", name, got)
		}
	}
	if got := b.sendForStatus(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`); got != http.StatusForbidden {
		t.Errorf("a page is taken for an MCP client: %d", got)
	}

	// The sign-in is on record, without secrets, and lasts when the gateway is restarted at the same address.
	if all := auditText(t, g); !strings.Contains(all, `"browser"`) || strings.Contains(all, b.key) || strings.Contains(all, b.cookies[0].Value) {
		t.Errorf("the records are %s", all)
	}
	g.Signal(os.Interrupt)
	if code := g.ExitCode(); code != 0 {
		t.Fatalf("serve ended with %d", code)
	}
	b.gateway = p.ServeIn(t, g.Home, settings, "--http", strings.TrimPrefix(g.URL, "http://"))
	if got := b.sendForStatus(http.MethodGet, "/api/v1/browsers", ""); got != http.StatusOK {
		t.Errorf("after a restart: %d", got)
	}

	// The browser can be signed out from the command line.
	out, errs, _ := p.Run(t, g.Home, "open", "--list", "--json", "--config", settings)
	id := gjson.Get(out, "browsers.0.id").String()
	if _, errs, code := p.Run(t, g.Home, "open", "--end", id, "--config", settings); code != 0 || id == "" {
		t.Fatalf("open --end %q: %s%s", id, out, errs)
	}
	if got := b.sendForStatus(http.MethodGet, "/api/v1/browsers", ""); got != http.StatusUnauthorized {
		t.Errorf("after it was signed out: %d; %s", got, errs)
	}
}

// auditText returns the audit of the home as text.
func auditText(t *testing.T, g *gateway.Gateway) string {
	t.Helper()
	var all strings.Builder
	for _, e := range gateway.Records(t, g.Home) {
		all.WriteString(e.Kind)
		all.Write(e.Raw)
	}
	return all.String()
}

// `collie open` gives no link to a program that runs it without a terminal.
func TestNoLinkWithoutATerminal(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, nil)
	g := p.Serve(t, settings)
	out, errs, code := p.RunOn(t, g.Home, strings.NewReader("y\n"), "open", "--config", settings)
	if strings.Contains(out+errs, "link=") || code == 0 && !inTerminal() {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	out, errs, code = p.Run(t, t.TempDir(), "open", "--config", settings)
	if code == 0 || !strings.Contains(errs, "no gateway runs") {
		t.Errorf("without a gateway: exit %d: %s%s", code, out, errs)
	}
}

// inTerminal reports whether the programs that a test starts have a terminal, because a person runs the test.
func inTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err == nil {
		_ = f.Close()
	}
	return err == nil
}
