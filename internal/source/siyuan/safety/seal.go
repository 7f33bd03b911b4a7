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

// sealed returns the text of a record as it is written.
func (l *ledger) encrypt(id string, raw []byte) []byte {
	if l.seal == nil {
		return raw
	}
	out := make([]byte, 0, len(sealMark)+l.seal.NonceSize()+len(raw)+l.seal.Overhead())
	out = append(out, sealMark...)
	nonce := make([]byte, l.seal.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return l.seal.Seal(append(out, nonce...), nonce, raw, []byte(id))
}

// unsealed returns the reverse. The error is errSealed.
func (l *ledger) decrypt(id string, text []byte) ([]byte, error) {
	body, marked := bytes.CutPrefix(text, []byte(sealMark))
	if !marked {
		return text, nil
	}
	if l.seal == nil || len(body) < l.seal.NonceSize() {
		return nil, errSealed
	}
	nonce, body := body[:l.seal.NonceSize()], body[l.seal.NonceSize():]
	raw, err := l.seal.Open(nil, nonce, body, []byte(id))
	if err != nil {
		return nil, errSealed
	}
	return raw, nil
}
