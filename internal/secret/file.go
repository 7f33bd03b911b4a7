package secret

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"filippo.io/age"

	"collie/internal/atomicfile"
)

// This file keeps secrets in an encrypted file.

// maxFile is the maximum size that is decrypted, in bytes.
const maxFile = 64 << 20

// fileBackend keeps secrets in a file encrypted with age.
type fileBackend struct {
	file    atomicfile.File
	keyPath string
}

// content is the plain text of the file.
type content struct {
	Version int               `json:"version"`
	Secrets map[string]string `json:"secrets"`
}

func (b *fileBackend) get(_ context.Context, name string) (string, bool, error) {
	c, err := b.read()
	if err != nil {
		return "", false, err
	}
	v, ok := c.Secrets[name]
	return v, ok, nil
}

func (b *fileBackend) names() ([]string, error) {
	c, err := b.read()
	return slices.Sorted(maps.Keys(c.Secrets)), err
}

func (b *fileBackend) set(ctx context.Context, name, value string) error {
	return b.update(ctx, func(c *content) bool {
		if old, ok := c.Secrets[name]; ok && old == value {
			return false
		}
		c.Secrets[name] = value
		return true
	})
}

func (b *fileBackend) delete(ctx context.Context, name string) error {
	return b.update(ctx, func(c *content) bool {
		_, ok := c.Secrets[name]
		delete(c.Secrets, name)
		return ok
	})
}

// update changes the secrets while holding the file's lock. edit reports whether it changed anything.
func (b *fileBackend) update(ctx context.Context, edit func(*content) bool) error {
	return b.file.Update(ctx, func(old []byte) ([]byte, error) {
		c, err := b.open(old)
		if err != nil {
			return nil, err
		}
		if !edit(&c) {
			return old, nil
		}
		return b.seal(c)
	})
}

func (b *fileBackend) read() (content, error) {
	raw, err := os.ReadFile(b.file.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return content{}, err
	}
	return b.open(raw)
}

// open decrypts the content of the file; nil means that there is no file. An error keeps callers from
// overwriting what cannot be decrypted.
func (b *fileBackend) open(raw []byte) (content, error) {
	c := content{Version: version, Secrets: map[string]string{}}
	if raw == nil {
		return c, nil
	}
	id, err := b.readKey()
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%s cannot be read without %s: put that back, or remove the former and set the secrets again",
			b.file.Path, b.keyPath)
	}
	if err != nil {
		return c, err
	}
	text, err := decrypt(raw, id)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		// The cause is left out, because a decoder's error may quote secrets.
		return c, fmt.Errorf("%s is damaged, or %s is not its key: put both back from a backup, or remove the former and set the secrets again",
			b.file.Path, b.keyPath)
	}
	if c.Version > version {
		return c, fmt.Errorf("%s is of version %d, this program knows %d: update it", b.file.Path, c.Version, version)
	}
	if c.Secrets == nil {
		c.Secrets = map[string]string{}
	}
	return c, nil
}

func decrypt(raw []byte, id age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(raw), id)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("more than %d bytes", maxFile)
	}
	return text, err
}

// seal encrypts c. The caller holds the file's lock, which also protects the creation of the key.
func (b *fileBackend) seal(c content) ([]byte, error) {
	id, err := b.readKey()
	if errors.Is(err, fs.ErrNotExist) {
		id, err = b.makeKey()
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, id.Recipient())
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// makeKey creates the key that decrypts the file, and stores it.
func (b *fileBackend) makeKey() (*age.X25519Identity, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	return id, atomicfile.Write(b.keyPath, []byte(id.String()+"\n"), 0o600)
}

// readKey reads the key. A key file that others can read is an error.
func (b *fileBackend) readKey() (*age.X25519Identity, error) {
	info, err := os.Stat(b.keyPath)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s can be read by others (mode %04o): chmod 600 it, and change the secrets if somebody has",
			b.keyPath, info.Mode().Perm())
	}
	raw, err := os.ReadFile(b.keyPath)
	if err != nil {
		return nil, err
	}
	id, err := age.ParseX25519Identity(strings.TrimSpace(string(raw)))
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: put it back from a backup", b.keyPath) // age's error would quote the key
	}
	return id, nil
}
