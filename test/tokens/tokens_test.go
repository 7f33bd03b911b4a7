// Package tokens_test attacks the named tokens of a gateway from outside: the holder of a token sees and calls what
// the token allows and nothing else, whichever way they ask.
package tokens_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/pipeline/audit"
	"collie/internal/sorting"
	"collie/test/await"
	"collie/test/gateway"
)

func TestMain(m *testing.M) { os.Exit(gateway.BuildAndRun(m)) }

// limit is five times the second within which a revoked token must stop working.
const limit = 5 * time.Second

// initialize is the request that opens a session.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

// idLike matches an id of SiYuan.
var idLike = regexp.MustCompile(`\d{14}-[0-9a-z]{7}`)

// world is a gateway with profiles and ways to ask it.
type world struct {
	*testing.T
	programs gateway.Programs
	gateway  *gateway.Gateway
	settings string
	first    string // the token that a gateway makes at its first start
}

// profiles are the profiles of the gateway, by name.
var profiles = map[string]string{
	"reads":   `{"tools":{"include":["fs"]}}`,
	"flat":    `{"tools":{"include":["fs","tag"]},"view":"flat"}`,
	"search":  `{"tools":{"include":["search","block"]},"view":"search"}`,
	"careful": `{"tools":{"exclude":["fs","av"]},"actions":{"exclude":["block.delete","search.sql"]}}`,
}

// startWorld starts a gateway with notes and the profiles.
func startWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, programs: gateway.LinkPrograms(t)}
	var list []string
	for name, p := range profiles {
		list = append(list, fmt.Sprintf("%q:%s", name, p))
	}
	w.settings = w.programs.Settings(t, nil, `"siyuan":{"enabled":true}`, `"http":{"metrics":true}`, `"profiles":{`+strings.Join(list, ",")+`}`)
	w.gateway = w.programs.Serve(t, w.settings)
	w.first, _, _ = w.gateway.Keys(t)
	return w
}

// runToken runs `collie token` and returns what it prints; for "add", that is the secret.
func (w *world) runToken(args ...string) string {
	w.Helper()
	out, errs, code := w.programs.Run(w.T, w.gateway.Home, append([]string{"token", "--config", w.settings}, args...)...)
	if code != 0 {
		w.Fatalf("token %q: %s", args, errs)
	}
	return strings.TrimSpace(out)
}

// send sends one request, and returns the status, the session id and the body of the answer. head has names and values
// of further headers in turn.
func (w *world) send(method, path, token, session, body string, head ...string) (status int, opened, answer string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.gateway.URL+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i < len(head); i += 2 {
		req.Header.Add(head[i], head[i+1])
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host // the header itself is not sent
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Mcp-Session-Id"), string(raw)
}

// awaitStatus asks for the tool list until the status is the wanted one.
func (w *world) awaitStatus(want int, token string) {
	w.Helper()
	w.awaitTrue(fmt.Sprintf("the status %d", want), func() bool {
		status, _, _ := w.send(http.MethodGet, "/api/v1/lists/tools", token, "", "")
		return status == want
	})
}

// awaitTrue waits until ok returns true, and fails the test if that takes longer than limit.
func (w *world) awaitTrue(what string, ok func() bool) {
	w.Helper()
	begun := time.Now()
	await.Until(w, what, ok)
	await.Within(w, what, time.Since(begun), limit)
}

// openSession opens a session and returns its id.
func (w *world) openSession(token, query string) string {
	w.Helper()
	status, id, body := w.send(http.MethodPost, "/mcp"+query, token, "", initialize)
	if status != http.StatusOK || id == "" {
		w.Fatalf("initialize: %d %s", status, body)
	}
	return id
}

// rpc sends a request in a session and returns the body of the answer.
func (w *world) rpc(token, session, query, method, params string) string {
	w.Helper()
	_, _, body := w.send(http.MethodPost, "/mcp"+query, token, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, method, params))
	return body
}

// shownActions returns the actions that a profile shows to people, as tool/action, sorted.
func (w *world) shownActions(profile string) (list []string) {
	w.Helper()
	_, _, body := w.send(http.MethodGet, "/api/v1/tools?profile="+profile, w.first, "", "")
	for _, t := range gjson.Get(body, "tools").Array() {
		name := t.Get("name").String() + t.Get("Name").String()
		for _, a := range slices.Concat(t.Get("actions").Array(), t.Get("Actions").Array()) {
			list = append(list, name+"/"+a.Get("name").String()+a.Get("Name").String())
		}
	}
	sorting.By(list, strings.Compare)
	return list
}

// A token that is bound to a profile lists what the profile shows, byte for byte, calls nothing else by any name, and
// reads no other resource or help. This is tried for every profile.
func TestTokensSeeNothingBeyond(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	all := w.shownActions("default")
	if len(all) < 100 {
		t.Fatalf("%d actions: %q", len(all), all)
	}
	kind := func(body string) string { return gjson.Get(body, "error.type").String() }
	_, _, nobody := w.send(http.MethodPost, "/api/v1/calls", w.first, "", `{"name":"no/such","args":{}}`)
	for profile := range profiles {
		shown := w.shownActions(profile)
		secret := w.runToken("add", "of-"+profile, "--profile", profile)
		w.awaitStatus(http.StatusOK, secret)
		id := w.openSession(secret, "")
		for _, list := range []string{"tools", "prompts", "resources"} {
			_, _, want := w.send(http.MethodGet, "/api/v1/lists/"+list+"?profile="+profile, w.first, "", "")
			if _, _, got := w.send(http.MethodGet, "/api/v1/lists/"+list, secret, "", ""); got != want {
				t.Errorf("%s: %s by the API are %.200s, want %.200s", profile, list, got, want)
			}
			if got := gjson.Get(w.rpc(secret, id, "", list+"/list", "{}"), "result").Raw; got != strings.TrimSpace(want) {
				t.Errorf("%s: %s are %.200s, want %.200s", profile, list, got, want)
			}
		}
		refused := 0
		for _, name := range all {
			tool, action, _ := strings.Cut(name, "/")
			if slices.Contains(shown, name) {
				continue
			}
			refused++
			for _, call := range []string{
				fmt.Sprintf(`{"name":%q,"args":{}}`, name), fmt.Sprintf(`{"name":%q,"args":{}}`, tool+"."+action), fmt.Sprintf(`{"name":%q,"args":{}}`, tool+"__"+action),
				fmt.Sprintf(`{"name":%q,"args":{"action":%q}}`, tool, action),
				fmt.Sprintf(`{"name":"collie_call","args":{"name":%q,"arguments":{}}}`, name), fmt.Sprintf(`{"name":"collie_describe","args":{"name":%q}}`, name),
			} {
				if _, _, body := w.send(http.MethodPost, "/api/v1/calls", secret, "", call); kind(body) == "" && !gjson.Get(body, "isError").Bool() {
					t.Errorf("%s: %s answers %.200s (unknown ones %.100s)", profile, call, body, nobody)
				}
				mcp := strings.Replace(call, `"args"`, `"arguments"`, 1)
				if body := w.rpc(secret, id, "", "tools/call", mcp); !gjson.Get(body, "error").Exists() && !gjson.Get(body, "result.isError").Bool() {
					t.Errorf("%s: %s answers %.200s", profile, mcp, body)
				}
			}
			for _, uri := range []string{"collie://help/" + name} {
				if body := w.rpc(secret, id, "", "resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); !gjson.Get(body, "error").Exists() {
					t.Errorf("%s: reads %s: %.200s", profile, uri, body)
				}
			}
		}
		if refused == 0 {
			t.Errorf("%s hides nothing", profile)
		}
		// A request for another profile is refused everywhere.
		for other := range profiles {
			for _, asked := range []string{other, other + "@flat", "default"} {
				if asked == profile {
					continue
				}
				for _, query := range []string{"?profile=" + asked, "?profile=" + profile + "&profile=" + asked, "?profile=" + asked + "&profile=" + profile, "?profil%65=" + asked} {
					status, _, body := w.send(http.MethodPost, "/mcp"+query, secret, "", initialize)
					api, _, _ := w.send(http.MethodGet, "/api/v1/tools"+query, secret, "", "")
					if status != http.StatusForbidden || api != http.StatusForbidden || !strings.Contains(body, profile) {
						t.Errorf("%s with %s: %d and %d, %s", profile, query, status, api, body)
					}
				}
				if status, _, body := w.send(http.MethodPost, "/api/v1/calls", secret, "", fmt.Sprintf(`{"name":"fs","profile":%q,"args":{}}`, asked)); status != http.StatusForbidden {
					t.Errorf("%s calls in %s: %d %s", profile, asked, status, body)
				}
			}
		}
	}
}

// Each scope gives access to exactly its part, and no named token may manage the gateway.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	for _, scopes := range []string{"tools", "chat", "approve", "chat,approve", "tools,chat", "tools,approve,chat"} {
		secret := w.runToken("add", strings.ReplaceAll(scopes, ",", "-"), "--scope", scopes)
		want := http.StatusForbidden
		if strings.Contains(scopes, "tools") {
			want = http.StatusOK
		}
		w.awaitStatus(want, secret)
		if status, _, body := w.send(http.MethodPost, "/mcp", secret, "", initialize); status != want {
			t.Errorf("%s: initialize is %d, want %d: %s", scopes, status, want, body)
		}
		for _, path := range []string{"/metrics", "/api/v1/mcp/servers", "/api/v1/toolcache/stats"} {
			if status, _, body := w.send(http.MethodGet, path, secret, "", ""); status != http.StatusForbidden {
				t.Errorf("%s: %s is %d: %.100s", scopes, path, status, body)
			}
		}
	}
}

// A token is only accepted in a single Authorization header. A session can only be used with the token that opened
// it.
func TestOtherWaysIn(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	a, b := w.runToken("add", "a", "--profile", "reads"), w.runToken("add", "b")
	w.awaitStatus(http.StatusOK, a)
	w.awaitStatus(http.StatusOK, b)
	for _, path := range []string{"/mcp?token=" + b, "/mcp?access_token=" + b, "/mcp?authorization=Bearer+" + b} {
		if status, _, _ := w.send(http.MethodPost, path, "", "", initialize); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, status)
		}
	}
	for _, head := range [][]string{
		{"Authorization", b},
		{"Authorization", "Basic " + b},
		{"Authorization", "Bearer"},
		{"Authorization", "Bearer " + b + "x"},
		{"Authorization", "Bearer " + b[:len(b)-1]},
		{"Authorization", "Bearer " + strings.ToUpper(b)},
		{"Authorization", "Bearer " + b, "Authorization", "Bearer " + a},
		{"Authorization", "Bearer " + b + "," + a},
		{"X-Api-Key", b},
		{"Cookie", "token=" + b},
		{"Proxy-Authorization", "Bearer " + b},
	} {
		if status, _, _ := w.send(http.MethodPost, "/mcp", "", "", initialize, head...); status != http.StatusUnauthorized {
			t.Errorf("%.40q: %d", head, status)
		}
	}
	wide := w.openSession(b, "")
	narrow := w.openSession(a, "")
	for _, try := range [][2]string{{a, wide}, {b, narrow}, {w.first, wide}, {w.first, narrow}} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			body := ""
			if method == http.MethodPost {
				body = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
			}
			if status, _, _ := w.send(method, "/mcp", try[0], try[1], body); status != http.StatusNotFound {
				t.Errorf("%s with the session of another token: %d", method, status)
			}
		}
	}
	for _, e := range gateway.Records(t, w.gateway.Home) {
		if strings.Contains(string(e.Raw), a) || strings.Contains(string(e.Raw), b) {
			t.Errorf("a record has a secret: %s", e.Raw)
		}
	}
	called := w.rpc(a, narrow, "", "tools/call", `{"name":"fs","arguments":{"action":"ls","path":"/"}}`)
	w.awaitTrue("a record names the token of "+called, func() bool {
		return slices.ContainsFunc(gateway.Records(t, w.gateway.Home), func(e audit.Entry) bool { return e.Principal == "token/a" })
	})
}

// After a token was revoked or rotated by another process of the home, it is answered with 401, its open stream ends,
// and nobody can resume the stream or the session.
func TestRevokedTokenEnds(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	for _, how := range []string{"rotate", "revoke"} {
		secret := w.runToken("add", how)
		w.awaitStatus(http.StatusOK, secret)
		id := w.openSession(secret, "")
		ctx, stop := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.gateway.URL+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		req.Header.Set("Mcp-Session-Id", id)
		req.Header.Set("Accept", "text/event-stream")
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("stream: %v, %v", resp, err)
		}
		over := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, resp.Body)
			close(over)
		}()
		next := w.runToken(how, how)
		w.awaitTrue(how+": the stream ends", func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
		stop()
		_ = resp.Body.Close()
		w.awaitStatus(http.StatusUnauthorized, secret)
		if how == "revoke" {
			next = w.runToken("add", how) // another token of the same name
		}
		w.awaitStatus(http.StatusOK, next)
		for _, token := range []string{next, w.first} {
			if status, _, _ := w.send(http.MethodGet, "/mcp", token, id, "", "Last-Event-ID", "s:0"); status != http.StatusNotFound {
				t.Errorf("%s: the session is found again: %d", how, status)
			}
		}
	}
	// With a damaged file only the first token is accepted.
	secret := w.runToken("add", "last")
	w.awaitStatus(http.StatusOK, secret)
	path := w.gateway.Home + "/state/tokens.json"
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range [][]byte{[]byte(`{"version":1,"tokens":[`), []byte(strings.Replace(string(whole), `"version": 1`, `"version": 9`, 1)), nil} {
		if err := os.WriteFile(path, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		w.awaitStatus(http.StatusUnauthorized, secret)
		w.awaitStatus(http.StatusOK, w.first)
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		w.awaitStatus(http.StatusOK, secret)
	}
}

// If a profile is removed from the settings, the tokens that are bound to it have no access at all, also in open
// sessions.
func TestProfileThatVanishes(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	secret := w.runToken("add", "held", "--profile", "reads")
	w.awaitStatus(http.StatusOK, secret)
	id := w.openSession(secret, "")
	if body := w.rpc(secret, id, "", "tools/list", "{}"); !strings.Contains(body, `"name":"fs"`) {
		t.Fatalf("it sees %.200s", body)
	}
	w.programs.SettingsAt(t, w.settings, nil, `"siyuan":{"enabled":true}`, `"http":{"metrics":true}`)
	await.Until(t, "the profile is taken away", func() bool {
		if body := w.rpc(secret, id, "", "tools/list", "{}"); strings.Contains(body, `"name":"search"`) {
			t.Fatalf("it sees more: %.200s", body)
		}
		status, _, _ := w.send(http.MethodPost, "/mcp", secret, "", initialize)
		return status == http.StatusForbidden
	})
}
