//go:build stories && linux

package docs_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/gateway"
	"collie/test/port"
)

// proxyName is the name in the guide under which people reach the proxy.
const proxyName = "notes.example.org"

// front is one of the proxies in the guide, in front of a gateway, and a client that reaches the gateway through it.
type front struct {
	*testing.T
	gateway *gateway.Gateway
	client  *http.Client
	token   string
	cookie  *http.Cookie
	key     string
}

// TestProxies runs Caddy and nginx, with the configurations in docs/guide/remote.md, in front of gateways with the
// settings there: they must do what the guide says. Only ports and the certificate differ from the guide.
func TestProxies(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/guide/remote.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, proxies, _ := strings.Cut(string(text), "\n## A proxy\n")
	block := func(before string) string {
		t.Helper()
		m := regexp.MustCompile("(?s)\n" + before + ":\n\n```[a-z]*\n(.*?)```").FindStringSubmatch(proxies)
		if m == nil {
			t.Fatalf("the guide has no block after %q", before)
		}
		return m[1]
	}
	settings, caddy, nginx := block("The settings"), block("Caddy"), block("nginx")

	cert, key := makeCertificate(t)
	for name, proxy := range map[string]func(t *testing.T, dir, at, gateway string) *exec.Cmd{
		"nginx": func(t *testing.T, dir, at, gateway string) *exec.Cmd {
			conf := replaceWords(t, nginx, "listen 443 ssl", "listen "+at+" ssl", "/etc/ssl/notes/fullchain.pem", cert, "/etc/ssl/notes/privkey.pem", key, "127.0.0.1:7420", gateway)
			var own strings.Builder
			for _, of := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				fmt.Fprintf(&own, "%s_temp_path %s;\n", of, filepath.Join(dir, of))
			}
			file := filepath.Join(dir, "nginx.conf")
			writeTo(t, file, "daemon off;\nmaster_process off;\npid "+filepath.Join(dir, "pid")+";\nevents {}\nhttp {\naccess_log off;\n"+own.String()+conf+"}\n")
			return exec.Command("nginx", "-p", dir, "-e", "stderr", "-c", file)
		},
		"caddy": func(t *testing.T, dir, at, gateway string) *exec.Cmd {
			_, number, _ := net.SplitHostPort(at)
			conf := replaceWords(t, caddy, proxyName+" {", proxyName+" {\n\tbind 127.0.0.1\n\ttls "+cert+" "+key, "127.0.0.1:7420", gateway)
			file := filepath.Join(dir, "Caddyfile")
			writeTo(t, file, "{\n\tadmin off\n\tauto_https disable_redirects\n\thttps_port "+number+"\n}\n"+conf)
			cmd := exec.Command("caddy", "run", "--config", file, "--adapter", "caddyfile")
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			return cmd
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("%s is not here: apt-get install --no-install-recommends %s", name, name)
			}
			p := gateway.LinkPrograms(t)
			g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "side"}}, `"siyuan":{}`, strings.Trim(strings.TrimSpace(settings), "{}")))
			token, _, _ := g.Keys(t)
			at := port.Address(t)
			startForTest(t, proxy(t, t.TempDir(), at, strings.TrimPrefix(g.URL, "http://")))
			f := &front{T: t, gateway: g, token: token, client: clientAt(t, at, cert)}
			await.Until(t, name+" answers", func() bool {
				resp, err := f.client.Get("https://" + proxyName + "/healthz")
				if err != nil {
					return false
				}
				return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
			})
			f.checkHostAndOrigin()
			f.checkProgress()
			f.checkSignIn()
			f.checkEventStream()
		})
	}
}

// checkHostAndOrigin verifies that Host and Origin are checked behind the proxy, and that its requests do not count as local.
func (f *front) checkHostAndOrigin() {
	f.Helper()
	for what, c := range map[string]struct {
		host, origin string
		passes       bool
	}{
		"its own name":                {passes: true},
		"a page of its own":           {origin: "https://" + proxyName, passes: true},
		"a page of others":            {origin: "https://evil.example"},
		"a page of another port":      {origin: "https://" + proxyName + ":444"},
		"a name that leads here, too": {host: "evil.example"},
	} {
		head := http.Header{}
		if c.origin != "" {
			head.Set("Origin", c.origin)
		}
		req := f.request(f.Context(), http.MethodGet, "/api/v1/tools", "", head, true)
		req.Host = c.host
		// Caddy answers by itself for names that it does not know.
		status, body := f.answer(req)
		if got := status == http.StatusOK && gjson.GetBytes(body, "tools").Exists(); got != c.passes {
			f.Errorf("%s: %d: %.300s", what, status, body)
		}
	}
	if status, _ := f.answer(f.request(f.Context(), http.MethodGet, "/api/v1/tools", "", nil, false)); status != http.StatusUnauthorized {
		f.Errorf("without a token: %d", status)
	}
	// The forged header claims that the request was sent from the machine itself.
	forged := http.Header{"X-Forwarded-For": {"127.0.0.1"}}
	if status, body := f.answer(f.request(f.Context(), http.MethodPost, "/pages/session", `{"link":"x"}`, forged, false)); status != http.StatusForbidden {
		f.Errorf("a request that claims to be local signs in: %d %s", status, body)
	}
}

// checkProgress has a server report progress in the answer to a POST. Each report arrives while the call is running.
func (f *front) checkProgress() {
	f.Helper()
	head := http.Header{"Accept": {"application/json, text/event-stream"}}
	resp := f.send(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, head, true)
	head.Set("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	_ = resp.Body.Close()
	resp = f.send(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, head, true)
	_ = resp.Body.Close()
	// The call takes ten minutes, so the reports below arrive while it runs.
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	req := f.request(ctx, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"side__slow","arguments":{"ms":600000,"steps":6000},"_meta":{"progressToken":1}}}`, head, true)
	resp, err := f.client.Do(req)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for _, want := range []string{"step 1 of", "step 2 of", "step 3 of"} {
		f.awaitLine(lines, want)
	}
	// Only this notification ends the call, because clients of this protocol may reconnect for an answer.
	_ = f.send(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, head, true).Body.Close()
}

// checkSignIn exchanges a link for a cookie and a key, as the pages do.
func (f *front) checkSignIn() {
	f.Helper()
	status, made := f.gateway.Ask(f, http.MethodPost, "/browsers/links", `{"elsewhere":true}`)
	address := gjson.GetBytes(made, "address").String()
	_, link, found := strings.Cut(address, "#link=")
	if status/100 != 2 || !strings.HasPrefix(address, "https://"+proxyName+"/pages/") || !found {
		f.Fatalf("a link for other machines: %d %s", status, made)
	}
	resp := f.send(http.MethodPost, "/pages/session", fmt.Sprintf(`{"link":%q}`, link), http.Header{"Origin": {"https://" + proxyName}}, false)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		f.Fatalf("sign in: %d %s %v", resp.StatusCode, body, err)
	}
	f.cookie, f.key = resp.Cookies()[0], gjson.GetBytes(body, "key").String()
	if !f.cookie.Secure {
		f.Errorf("the cookie would be sent without TLS: %s", f.cookie)
	}
	if from := gjson.GetBytes(body, "browser.address").String(); from != "127.0.0.1" {
		f.Errorf("the browser's address is %q", from)
	}
}

// checkEventStream reads the event stream of the pages while things happen.
func (f *front) checkEventStream() {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	req := f.request(ctx, http.MethodGet, "/api/v1/events", "", http.Header{"Collie-Browser-Key": {f.key}, "Sec-Fetch-Site": {"same-origin"}}, false)
	req.AddCookie(f.cookie)
	resp, err := f.client.Do(req)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		f.Fatalf("the event stream: %d %s", resp.StatusCode, body)
	}
	lines := bufio.NewScanner(resp.Body)
	for range 2 {
		if status, answer := f.gateway.Ask(f, http.MethodPost, "/calls", `{"name":"side/echo","args":{"text":"hello"}}`); status != http.StatusOK {
			f.Fatalf("a call: %d %s", status, answer)
		}
		f.awaitLine(lines, "call.done")
	}
}

// awaitLine fails the test unless a line with text arrives on the stream within [await.Limit].
func (f *front) awaitLine(lines *bufio.Scanner, text string) {
	f.Helper()
	found := make(chan error, 1)
	go func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				found <- nil
				return
			}
		}
		found <- fmt.Errorf("the stream ended: %w", lines.Err())
	}()
	select {
	case err := <-found:
		if err != nil {
			f.Fatalf("%q: %v", text, err)
		}
	case <-time.After(await.Limit):
		f.Fatalf("%q does not arrive: the proxy holds the stream back", text)
	}
}

// request makes a request to the proxy, with the token if withToken is set.
func (f *front) request(ctx context.Context, method, path, body string, head http.Header, withToken bool) *http.Request {
	f.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "https://"+proxyName+path, bytes.NewReader([]byte(body)))
	if err != nil {
		f.Fatal(err)
	}
	maps.Copy(req.Header, head)
	if withToken {
		req.Header.Set("Authorization", "Bearer "+f.token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

func (f *front) send(method, path, body string, head http.Header, withToken bool) *http.Response {
	f.Helper()
	resp, err := f.client.Do(f.request(f.Context(), method, path, body, head, withToken))
	if err != nil {
		f.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// answer sends a request and returns the whole answer.
func (f *front) answer(req *http.Request) (status int, body []byte) {
	f.Helper()
	resp, err := f.client.Do(req)
	if err != nil {
		f.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err = io.ReadAll(resp.Body); err != nil {
		f.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return resp.StatusCode, body
}

// clientAt returns a client that trusts a certificate and for which every name leads to one address.
func clientAt(t *testing.T, at, cert string) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if text, err := os.ReadFile(cert); err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: proxyName, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, at)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// makeCertificate writes a certificate for proxyName, signed by itself, and its key.
func makeCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{proxyName}, NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeTo(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})))
	writeTo(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	return cert, key
}

// replaceWords returns a configuration of the guide with words replaced, given as pairs of old and new. Each old word must
// occur in it.
func replaceWords(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the guide does not print %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

func writeTo(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startForTest starts a program that ends with the test.
func startForTest(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // asked to end, Caddy waits for streams whose clients have left
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Path, &said)
		}
	})
}
