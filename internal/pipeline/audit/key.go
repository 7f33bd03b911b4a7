package audit

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"collie/internal/atomicfile"
)

// This file keeps the key with which the heads of chains are signed.

const (
	keyFile   = "key"
	keyPrefix = "collie-audit-key-1 "

	// keyWait bounds the wait for another process that is making the key.
	keyWait = 5 * time.Second
)

// signingKey is the key of a home.
type signingKey struct {
	private ed25519.PrivateKey
	args    []byte // the key for argsHmac
}

// openKey reads the key of dir, or makes it if there is none. Processes that start at the same time get the
// same key.
func openKey(dir string) (*signingKey, error) {
	path := filepath.Join(dir, keyFile)
	k, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyWait)
	defer cancel()
	unlock, err := atomicfile.Lock(ctx, path+".lock")
	if err != nil {
		return nil, fmt.Errorf("make audit key: %w", err)
	}
	defer unlock()
	return makeKey(path)
}

// makeKey creates the key. The caller holds the lock.
func makeKey(path string) (*signingKey, error) {
	if k, err := readKey(path); !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return nil, err
	}
	text := keyPrefix + base64.StdEncoding.EncodeToString(seed) + "\n"
	if err := atomicfile.Write(path, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write audit key: %w", err)
	}
	return newKey(seed)
}

func readKey(path string) (*signingKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read audit key: %w", err)
	}
	b64, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), keyPrefix)
	seed, err := base64.StdEncoding.DecodeString(b64)
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("audit key %s is damaged: put it back from a backup, or move the whole folder away to start again", path)
	}
	return newKey(seed)
}

func newKey(seed []byte) (*signingKey, error) {
	args, err := hkdf.Key(sha256.New, seed, nil, "collie audit args", 32)
	if err != nil {
		return nil, err
	}
	return &signingKey{private: ed25519.NewKeyFromSeed(seed), args: args}, nil
}

// public returns the public key in base64.
func (k *signingKey) public() string {
	return base64.StdEncoding.EncodeToString(k.private[ed25519.SeedSize:])
}

// sign returns the signature of text in base64.
func (k *signingKey) sign(text []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, text))
}

// isSigned reports whether signature, in base64, is that of text.
func (k *signingKey) isSigned(text []byte, signature string) bool {
	sig, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && ed25519.Verify(ed25519.PublicKey(k.private[ed25519.SeedSize:]), text, sig)
}
