package acceptance_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/test/await"
)

const (
	initializeBody = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	listToolsBody  = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
)

// postMCP sends a body to the gateway; edit, which may be nil, changes the request.
func postMCP(t *testing.T, c *http.Client, url, token, body string, edit func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if edit != nil {
		edit(req)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(answer)
}

// newClient is an HTTP client whose connections end with the test.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestHTTPCodes checks the status codes of the listener and of sessions in front of the SiYuan tools, and that a refused
// request does not reach the kernel. The tests of internal/face/httpserver and internal/mcp cover each code in full.
func TestHTTPCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	settings := w.Settings(t, nil, w.siyuanSection(w.URL()), `"http":{"maxBody":"64KiB"}`)
	g := w.Serve(t, settings)
	token, _, _ := g.Keys(t)
	await.Until(t, "the first look", func() bool { return len(w.Calls()) >= 2 }) // both places of the tool config
	w.ResetCalls()
	c := newClient(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, tt := range []struct {
		name, token, body string
		edit              func(*http.Request)
		status            int
	}{
		{name: "no token", body: initializeBody, status: 401},
		{name: "wrong token", token: "x" + token, body: initializeBody, status: 401},
		{name: "token in the query", body: initializeBody, edit: func(r *http.Request) { r.URL.RawQuery = "token=" + token }, status: 401},
		{name: "foreign origin", token: token, body: initializeBody, edit: header("Origin", "https://evil.example"), status: 403},
		{name: "foreign host", token: token, body: initializeBody, edit: func(r *http.Request) { r.Host = "rebound.example" }, status: 403},
		{name: "unknown session", token: token, body: listToolsBody, edit: header("Mcp-Session-Id", "00000000-0000-4000-8000-000000000000"), status: 404},
		{name: "no session", token: token, body: listToolsBody, status: 400},
		{name: "not JSON", token: token, body: `{"jsonrpc":`, status: 400},
		{name: "too large", token: token, body: strings.Repeat(" ", 65<<10) + initializeBody, status: 413},
		{name: "content type", token: token, body: initializeBody, edit: header("Content-Type", "text/plain"), status: 415},
		{name: "well", token: token, body: initializeBody, edit: header("Origin", "http://localhost"), status: 200},
	} {
		resp, body := postMCP(t, c, g.URL, tt.token, tt.body, tt.edit)
		if resp.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d: %.300s", tt.name, resp.StatusCode, tt.status, body)
		}
		if resp.StatusCode >= 400 && !gjson.Valid(body) {
			t.Errorf("%s: no JSON: %.300s", tt.name, body)
		}
		if strings.Contains(body, token) {
			t.Errorf("%s: the answer holds the token", tt.name)
		}
	}
	if got := w.Calls(); len(got) > 0 {
		t.Errorf("the kernel was asked: %v", endpointsOf(got))
	}

	// Guessing tokens ends with status 429.
	last := 0
	for range 30 {
		resp, _ := postMCP(t, c, g.URL, "guess", initializeBody, nil)
		last = resp.StatusCode
		if last == 429 {
			if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || s < 1 {
				t.Errorf("Retry-After %q", resp.Header.Get("Retry-After"))
			}
			break
		}
	}
	if last != 429 {
		t.Errorf("30 guesses end with status %d, want 429", last)
	}
}

// TestTLS serves with a certificate: the tools work over https, and http gets nothing.
func TestTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cert, key, pool := makeCertificate(t)
	g := w.Serve(t, w.settings, "--no-auth", "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(g.URL, "https://") {
		t.Fatalf("serves at %s", g.URL)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	resp, _ := postMCP(t, &http.Client{Transport: transport}, g.URL, "", initializeBody, nil)
	session := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || session == "" {
		t.Fatalf("status %d, session %q", resp.StatusCode, session)
	}
	_, body := postMCP(t, &http.Client{Transport: transport}, g.URL, "", listToolsBody, func(r *http.Request) { r.Header.Set("Mcp-Session-Id", session) })
	wantWords(t, "the list", body, `"fs"`, `"mascot"`)

	resp, _ = postMCP(t, newClient(t), strings.Replace(g.URL, "https", "http", 1), "", initializeBody, nil)
	if resp.StatusCode < 300 { // net/http says 400
		t.Errorf("http answers %d", resp.StatusCode)
	}
}

// makeCertificate makes a self-signed certificate for 127.0.0.1. It returns its files, and a pool that trusts it.
func makeCertificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret), pool
}

// TestGatewayEndsWithItsParent starts gateways for a parent each, with calls under way, and lets the
// parents die: five of five gateways end within 4 s.
func TestGatewayEndsWithItsParent(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip("needs a program to be the parent")
	}
	w := newWorld(t)
	for i := range 5 {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) {
			t.Parallel()
			parent := exec.CommandContext(t.Context(), "sleep", "600")
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			g := w.Serve(t, w.settings, "--no-auth", "--parent-pid", strconv.Itoa(parent.Process.Pid))
			openSession(t, g, legacy, nobody).mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // it was killed
			died := time.Now()
			if !g.AwaitExit(4 * time.Second) {
				t.Errorf("the gateway runs 4 s after its parent")
			}
			t.Logf("it took %v", time.Since(died))
			if code := g.ExitCode(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestClientsOfBothErasAtOnce runs five clients of both eras at the same time. Each reads and writes its
// own documents, and one document that all of them change.
func TestClientsOfBothErasAtOnce(t *testing.T) {
	t.Parallel()
	const clients, rounds = 5, 6
	w := newWorld(t)
	g := w.serve(t)
	var wg sync.WaitGroup
	for i := range clients {
		v := openSession(t, g, []string{legacy, modern}[i%2], agrees)
		wg.Go(func() {
			path := fmt.Sprintf("/Work/Client %d", i)
			steps := []func(n int) (string, string){
				func(int) (string, string) { return "fs", fmt.Sprintf(`{"action":"ls","path":%q}`, path) },
				func(n int) (string, string) {
					return "fs", fmt.Sprintf(`{"action":"write","path":"%s/Note %d","markdown":"draft %d"}`, path, n, n)
				},
				func(n int) (string, string) {
					return "fs", fmt.Sprintf(`{"action":"replace","path":"%s/Note %d","edit":{"old":"draft","new":"final"}}`, path, n)
				},
				func(n int) (string, string) {
					return "block", fmt.Sprintf(`{"action":"append","dataType":"markdown","data":"client %d, round %d","parentID":%q}`, i, n, w.plan)
				},
				func(n int) (string, string) {
					return "fs", fmt.Sprintf(`{"action":"read","path":"%s/Note %d"}`, path, n)
				},
			}
			callInGoroutine(t, v, "fs", fmt.Sprintf(`{"action":"write","path":%q,"markdown":"x"}`, path))
			for n := range rounds {
				for _, step := range steps {
					name, args := step(n)
					callInGoroutine(t, v, name, args)
				}
			}
		})
	}
	wg.Wait()
	v := openSession(t, g, modern, nobody)
	shared := v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan","blockLimit":200,"tokenBudget":32000}`).Get("content").String()
	for i := range clients {
		for n := range rounds {
			if want := fmt.Sprintf("client %d, round %d", i, n); strings.Count(shared, want) != 1 {
				t.Errorf("%q is %d times in the shared document", want, strings.Count(shared, want))
			}
			got := v.mustCall(t, "fs", fmt.Sprintf(`{"action":"read","path":"/Work/Client %d/Note %d"}`, i, n)).Get("content").String()
			if !strings.Contains(got, fmt.Sprintf("final %d", n)) {
				t.Errorf("note %d of client %d: %q", n, i, got)
			}
		}
	}
}

// callInGoroutine is [sdkClient.must] for goroutines: it reports a failed call with t.Errorf.
func callInGoroutine(t *testing.T, v *sdkClient, tool, args string) {
	t.Helper()
	if got := v.call(t, tool, args); got.failed {
		t.Errorf("%s %s: %s", tool, args, got.text)
	}
}
