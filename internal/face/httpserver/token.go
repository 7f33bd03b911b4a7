package httpserver

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"collie/internal/tool"
)

// This file keeps the main token of a home in a file that only its owner can read.

const (
	tokenBytes = 32
	minToken   = 16 // minimum characters of a token that a person chose
)

// LoadOrCreateToken returns the token in the file at path. If there is no file, it creates one with a new
// random token: 32 bytes as base64url, mode 0600, in a folder of mode 0700. Processes that do this at the
// same time get the same token. A file that others can read is an error of kind Denied, a file without a
// token one of kind Invalid.
func LoadOrCreateToken(path string) (token string, created bool, err error) {
	token, err = loadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, false, err
	}
	created, err = createToken(path)
	if err != nil {
		return "", false, tokenError("create token", path, err)
	}
	token, err = loadToken(path) // ours, or that of the process that was faster
	return token, created && err == nil, err
}

func loadToken(path string) (string, error) {
	const op = "read token"
	info, err := os.Stat(path)
	if err != nil {
		return "", tokenError(op, path, err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would block
		return "", &tool.Error{Op: op, Kind: tool.Invalid, Subject: path, Message: "this is not a file", Hint: "remove it, and a token is made at the next start"}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", tokenError(op, path, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return "", tokenError(op, path, err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", &tool.Error{
			Op: op, Kind: tool.Denied, Subject: path,
			Message: fmt.Sprintf("others may read the file (mode %04o)", info.Mode().Perm()),
			Hint:    "chmod 600 " + path + "; if others may have seen the token, remove the file for a new one",
		}
	}
	raw, err := io.ReadAll(io.LimitReader(f, 2*maxSecret))
	if err != nil {
		return "", tokenError(op, path, err)
	}
	token := strings.TrimSpace(string(raw))
	if !isToken(token) {
		return "", &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: path,
			Message: fmt.Sprintf("the file holds no token: %d to %d printable ASCII characters without spaces", minToken, maxSecret),
			Hint:    "remove it, and a token is made at the next start",
		}
	}
	return token, nil
}

func isToken(s string) bool {
	if len(s) < minToken || len(s) > maxSecret {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// createToken creates the file, complete or not at all, and reports whether this process did. It writes the
// token to a temporary file and links that to path, which fails if path exists.
func createToken(path string) (bool, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	aside, err := os.CreateTemp(dir, ".token-*") // mode 0600
	if err != nil {
		return false, err
	}
	defer os.Remove(aside.Name())
	token := newToken()
	_, err = aside.WriteString(token + "\n")
	if err = errors.Join(err, aside.Sync(), aside.Close()); err != nil {
		return false, err
	}
	switch err := os.Link(aside.Name(), path); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist):
		return false, nil
	}
	return createUnlinked(path, token)
}

// createUnlinked is for file systems without hard links. A process that reads the file between the two steps
// reports that there is no token.
func createUnlinked(path, token string) (bool, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, errors.Join(err, os.Remove(path))
	}
	return true, nil
}

func newToken() string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

func tokenError(op, path string, err error) error {
	kind := tool.Internal
	if errors.Is(err, fs.ErrPermission) {
		kind = tool.Denied
	}
	return &tool.Error{Op: op, Kind: kind, Subject: path, Err: err}
}
