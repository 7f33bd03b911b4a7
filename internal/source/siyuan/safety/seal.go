package safety

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Records contain texts of notes, so they can be encrypted. An encrypted record is sealMark, a random nonce, and the
// JSON encrypted with AES-256-GCM. The write's id is additional data, so a record cannot be passed off as another one.
// Records without sealMark are plain JSON, from before there was a key.
const (
	sealMark = "collie-sealed-1\n"
	sealUse  = "collie records of writes 1" // what the key is derived for
)

// errSealed is the error for a record that was encrypted with another key.
var errSealed = errors.New("the record is encrypted, and siyuan.undoKey is not the key it was written with")

// newSeal derives the cipher from a key; nil for an empty key.
func newSeal(key string) cipher.AEAD {
	if key == "" {
		return nil
	}
	derived, err := hkdf.Key(sha256.New, []byte(key), nil, sealUse, 32)
	if err != nil {
		panic(fmt.Sprintf("safety: a key of 32 bytes: %v", err)) // neither hash nor length is too large
	}
	block, err := aes.NewCipher(derived)
	if err == nil {
		var seal cipher.AEAD
		if seal, err = cipher.NewGCM(block); err == nil {
			return seal
		}
	}
	panic(fmt.Sprintf("safety: AES-256-GCM: %v", err))
}

// encrypt returns a record as it is stored.
func (l *ledger) encrypt(id string, raw []byte) []byte {
	if l.cipher == nil {
		return raw
	}
	out := make([]byte, 0, len(sealMark)+l.cipher.NonceSize()+len(raw)+l.cipher.Overhead())
	out = append(out, sealMark...)
	nonce := make([]byte, l.cipher.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return l.cipher.Seal(append(out, nonce...), nonce, raw, []byte(id))
}

// decrypt reverses encrypt. Its error is errSealed.
func (l *ledger) decrypt(id string, text []byte) ([]byte, error) {
	body, marked := bytes.CutPrefix(text, []byte(sealMark))
	if !marked {
		return text, nil
	}
	if l.cipher == nil || len(body) < l.cipher.NonceSize() {
		return nil, errSealed
	}
	nonce, body := body[:l.cipher.NonceSize()], body[l.cipher.NonceSize():]
	raw, err := l.cipher.Open(nil, nonce, body, []byte(id))
	if err != nil {
		return nil, errSealed
	}
	return raw, nil
}
