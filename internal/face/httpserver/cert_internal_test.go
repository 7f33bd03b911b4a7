package httpserver

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writePair creates a certificate for 127.0.0.1 with the given name, and its key.
func writePair(t *testing.T, certPath, keyPath, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, certPath, "CERTIFICATE", cert)
	writePEM(t, keyPath, "PRIVATE KEY", der)
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	aside := path + ".new"
	if err := os.WriteFile(aside, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, path); err != nil {
		t.Fatal(err)
	}
}

// After its files have changed, the server uses the new certificate without a restart. While the files are broken or missing it
// keeps the previous one and warns once.
func TestTLSFollowsItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certPath, keyPath := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, certPath, keyPath, "first")
	var log bytes.Buffer // written while holding the certificate's lock, read after handshakes
	d, err := Open(t.Context(), Options{
		Addr: "127.0.0.1:0", NoAuth: true, TLSCert: certPath, TLSKey: keyPath,
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	d.cert.every = 0
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- d.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Proto)
		}))
	}()
	name := func() string {
		t.Helper()
		transport := &http.Transport{
			ForceAttemptHTTP2: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // the test checks the name itself
		}
		defer transport.CloseIdleConnections()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL()+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: transport}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, _ := io.ReadAll(resp.Body); string(body) != "HTTP/2.0" || resp.StatusCode != 200 {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
		return resp.TLS.PeerCertificates[0].Subject.CommonName
	}
	if !strings.HasPrefix(d.URL(), "https://127.0.0.1:") {
		t.Errorf("URL %q", d.URL())
	}
	if got := name(); got != "first" {
		t.Errorf("certificate %q", got)
	}
	writePair(t, certPath, keyPath, "second")
	if got := name(); got != "second" {
		t.Errorf("certificate %q after the change", got)
	}
	if err := os.WriteFile(certPath, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := name(); got != "second" {
			t.Errorf("certificate %q after a broken change", got)
		}
	}
	if err := os.Remove(keyPath); err != nil {
		t.Fatal(err)
	}
	if got := name(); got != "second" {
		t.Errorf("certificate %q while a file is gone", got)
	}
	writePair(t, certPath, keyPath, "third")
	if got := name(); got != "third" {
		t.Errorf("certificate %q after the repair", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings, want one for one broken pair:\n%s", n, log.String())
	}
}

// The files of the certificate are checked no more often than once per interval.
func TestTLSLooksNowAndThen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certPath, keyPath := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, certPath, keyPath, "first")
	c, err := openCertificate(certPath, keyPath, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	first := c.current.Load()
	writePair(t, certPath, keyPath, "second")
	c.every = time.Hour
	if c.refresh(); c.current.Load() != first {
		t.Error("the files were read again too soon")
	}
	c.checked = time.Now().Add(-2 * time.Hour)
	if c.refresh(); c.current.Load() == first {
		t.Error("the files were not read again")
	}
}
