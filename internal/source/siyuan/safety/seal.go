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

// Records hold the texts that undo puts back, so they can be encrypted. A sealed record is sealMark, a random
// nonce, and what AES-256-GCM makes of the JSON with the write's id as additional data, so that no record passes for
// another one. Records without the mark are JSON: those that were written before there was a key stay readable.
const (
	sealMark = "collie-sealed-1\n"
	sealUse  = "collie records of writes 1" // what the key is derived for
)

// errSealed is the error of a record that cannot be read without the key it was written with.
var errSealed = errors.New("the record is encrypted, and siyuan.undoKey is not the key it was written with")

// newSeal derives the cipher of a key; nil where there is none.
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

// encrypt returns the text of a record as it is written.
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

// decrypt returns the reverse. The error is errSealed.
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
