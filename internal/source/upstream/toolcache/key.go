package toolcache

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/tool"
)

// This file loads the key of a home, and signs entries in a shared place with it, so that only gateways with the same key
// accept them.

const keySize = 32 // bytes

// LoadKey reads the key at path, 32 bytes, raw or as 64 hexadecimal digits. If there is no file, or an empty one, it
// creates one with a random key and mode 0600. Processes that start at the same time get the same key. A file with any
// other content is an error and is left alone.
func LoadKey(path string) ([]byte, error) {
	if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
		return parseKey(path, data)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var key []byte
	err := atomicfile.File{Path: path}.Update(ctx, func(old []byte) (data []byte, err error) {
		if len(old) > 0 {
			key, err = parseKey(path, old)
			return old, err
		}
		key = make([]byte, keySize)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		return append(hex.AppendEncode(nil, key), '\n'), nil
	})
	if err != nil {
		return nil, fmt.Errorf("load cache key: %w", err)
	}
	return key, nil
}

func parseKey(path string, data []byte) ([]byte, error) {
	if len(data) == keySize {
		return data, nil
	}
	text := bytes.TrimSpace(data)
	key := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(key, text); err != nil || len(key) != keySize {
		return nil, &tool.Error{
			Op: "read cache key", Kind: tool.Invalid, Subject: path,
			Message: fmt.Sprintf("expected %d hexadecimal digits", 2*keySize),
			Hint:    "remove the file, and a new key is made: every server is then asked for its tools once more",
		}
	}
	return key, nil
}

// keyID identifies a key without revealing anything of it.
func keyID(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("collie cache key"))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// integrityField holds the signature of an entry in a shared place.
const integrityField = "integrity"

const signAlgorithm = "hmac-sha256"

// integrity is a signature of an entry and its name. It covers the canonical form of the entry without the signature,
// so that a place may reformat entries.
type integrity struct {
	Alg   string `json:"alg"`
	KeyID string `json:"keyId"`
	MAC   string `json:"mac"`
}

var errSignature = errors.New("the signature does not fit")

// sign adds a signature to an entry.
func sign(key []byte, name string, entry json.RawMessage) (json.RawMessage, error) {
	list, err := members(entry)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, isIntegrity)
	mac, err := macOf(key, name, list)
	if err != nil {
		return nil, err
	}
	signature := integrity{signAlgorithm, keyID(key), hex.EncodeToString(mac)}
	return joinObject(append(list, member{integrityField, encode(signature)})), nil
}

// verifySignature returns an entry without its signature, if that is valid.
func verifySignature(key []byte, name string, entry json.RawMessage) (json.RawMessage, error) {
	list, err := members(entry)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, isIntegrity)
	if i < 0 {
		return nil, errSignature
	}
	var found integrity
	if err := decode(list[i].value, &found, "a signature"); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, isIntegrity)
	mac, err := macOf(key, name, list)
	if err != nil {
		return nil, err
	}
	theirs, err := hex.DecodeString(found.MAC)
	if err != nil || found.Alg != signAlgorithm || !hmac.Equal(theirs, mac) {
		return nil, errSignature
	}
	return joinObject(list), nil
}

func isIntegrity(m member) bool { return m.name == integrityField }

// macOf returns the signature of an entry and its name.
func macOf(key []byte, name string, list []member) ([]byte, error) {
	text, err := canonical(joinObject(list))
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("collie tool cache entry 1\n" + name + "\n"))
	mac.Write(text)
	return mac.Sum(nil), nil
}
