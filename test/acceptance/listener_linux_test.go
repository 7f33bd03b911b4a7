package acceptance_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestTheListenerGetsTLS switches TLS on at the address of a running gateway. A certificate that cannot be read changes
// nothing. A request that has begun in clear text is answered, and new connections have to use TLS.
func TestTheListenerGetsTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cert, key, pool := makeCertificate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	settings := w.Settings(t, nil, w.siyuanSection(w.URL()), fmt.Sprintf(`"http":{"addr":%q}`, at))
	g := w.Serve(t, settings, "--http", "")
	if g.URL != "http://"+at {
		t.Fatalf("it is at %s, not at %s", g.URL, at)
	}
	status, answer := g.Ask(t, http.MethodPut, "/listener", fmt.Sprintf(`{"addr":%q,"tlsCert":%q,"tlsKey":%q}`, at, key, cert))
	if status < 400 || gjson.GetBytes(answer, "error.hint").String() == "" {
		t.Errorf("a wrong certificate: %d %s", status, answer)
	}
	if status, answer = g.Ask(t, http.MethodGet, "/settings", ""); status != 200 || strings.Contains(string(answer), key) {
		t.Errorf("after a wrong certificate: %d %s", status, answer)
	}

	begun, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Close()
	const body = `{"name":"system.get_version","args":{}}`
	fmt.Fprintf(begun, "POST /api/v1/calls HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", at, g.Control(t), len(body), body[:5])
	status, answer = g.Ask(t, http.MethodPut, "/listener", fmt.Sprintf(`{"addr":%q,"tlsCert":%q,"tlsKey":%q}`, at, cert, key))
	if status != 200 || gjson.GetBytes(answer, "url").String() != "https://"+at || !strings.HasPrefix(gjson.GetBytes(answer, "link").String(), "https://"+at+"/pages/#link=") {
		t.Fatalf("the move: %d %s", status, answer)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	token, _, _ := g.Keys(t)
	if resp, _ := postMCP(t, &http.Client{Transport: transport}, "https://"+at, token, initializeBody, nil); resp.StatusCode != 200 {
		t.Errorf("over TLS: status %d", resp.StatusCode)
	}
	if _, err := io.WriteString(begun, body[5:]); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(begun), nil)
	if err != nil {
		t.Fatalf("the request that had begun: %v", err)
	}
	defer resp.Body.Close()
	if raw, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
		t.Errorf("the request that had begun: %d %s (%v)", resp.StatusCode, raw, err)
	}
}
