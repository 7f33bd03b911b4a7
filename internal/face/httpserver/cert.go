package httpserver

import (
	"crypto/tls"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/tool"
)

// This file loads the TLS certificate, and again when its files change.

// certCheckEvery is the minimum time between two checks whether the files have changed.
const certCheckEvery = 2 * time.Second

// certificate is a TLS certificate that is reloaded when its files change. An unusable pair is logged once,
// and the old one stays in use.
type certificate struct {
	certPath, keyPath string
	every             time.Duration
	log               *slog.Logger

	current atomic.Pointer[tls.Certificate]

	mu      sync.Mutex
	checked time.Time
	seen    [2]fs.FileInfo // at the last attempt, successful or not
}

func openCertificate(certPath, keyPath string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certPath: certPath, keyPath: keyPath, every: certCheckEvery, log: log}
	stat, err := c.stat()
	if err == nil {
		err = c.load(stat)
	}
	if err != nil {
		return nil, &tool.Error{
			Op: "read TLS certificate", Kind: tool.Invalid, Subject: certPath, Err: err,
			Hint: "--tls-cert and --tls-key need PEM files that belong together",
		}
	}
	c.checked = time.Now()
	return c, nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c.refresh()
			return c.current.Load(), nil
		},
	}
}

// refresh checks the files from time to time. Concurrent handshakes use the present certificate.
func (c *certificate) refresh() {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if time.Since(c.checked) < c.every {
		return
	}
	c.checked = time.Now()
	stat, err := c.stat()
	if err != nil || sameFiles(stat, c.seen) {
		return // unchanged, or briefly missing while being replaced
	}
	if err := c.load(stat); err != nil {
		c.log.Warn("the new TLS certificate cannot be used; the old one stays", "cert", c.certPath, "key", c.keyPath, "error", err)
		return
	}
	c.log.Info("TLS certificate read again", "cert", c.certPath)
}

// load reads the pair. stat was taken before, so that a change during reading is noticed next time.
func (c *certificate) load(stat [2]fs.FileInfo) error {
	c.seen = stat
	pair, err := tls.LoadX509KeyPair(c.certPath, c.keyPath)
	if err != nil {
		return err
	}
	c.current.Store(&pair)
	return nil
}

func (c *certificate) stat() (stat [2]fs.FileInfo, err error) {
	for i, path := range []string{c.certPath, c.keyPath} {
		if stat[i], err = os.Stat(path); err != nil {
			return stat, err
		}
	}
	return stat, nil
}

func sameFiles(a, b [2]fs.FileInfo) bool {
	for i := range a {
		if !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size() || !os.SameFile(a[i], b[i]) {
			return false
		}
	}
	return true
}
