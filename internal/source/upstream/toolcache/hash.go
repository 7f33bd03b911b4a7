package toolcache

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// This file hashes lists of tools, and seals and signs the hashes, so that a list that somebody has edited is noticed.

// pinnedFields are the fields of a tool that make up its definition.
var pinnedFields = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}

// ToolHash returns the lower-case hexadecimal SHA-256 of the canonical JSON (RFC 8785) of the fields that tell a
// model what a tool does: name, title, description, inputSchema, outputSchema and annotations. It is empty if def is
// not a JSON object.
func ToolHash(def json.RawMessage) string {
	all, err := members(def)
	if err != nil {
		return ""
	}
	all = slices.DeleteFunc(all, func(m member) bool { return !slices.Contains(pinnedFields, m.name) })
	sum, err := canonicalSum(joinObject(all))
	if err != nil {
		return ""
	}
	return sum
}

// hashTools returns the hash of a whole list, independent of the order of fields and of white space.
func hashTools(defs []json.RawMessage) (string, error) {
	return canonicalSum(joinArray(defs))
}

func canonicalSum(raw []byte) (string, error) {
	text, err := canonical(raw)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// canonical returns the canonical form of raw, which it leaves unchanged.
func canonical(raw []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(raw))
	err := v.Canonicalize(foreignOptions...)
	return v, err
}

// sealTools returns a digest of a list's hash and the exact bytes of its definitions. If the seal of a stored list is
// right, so is its hash, which then need not be computed again; that would be most of the time of loading.
func sealTools(hash string, defs []json.RawMessage) string {
	h := sha256.New()
	h.Write([]byte(hash))
	for _, def := range defs {
		h.Write([]byte{'\n'})
		h.Write(def)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// signSeal signs a seal with the key of this home. Somebody who edits the file can compute a seal but not this
// signature.
func signSeal(key []byte, seal string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("collie tools " + seal))
	return hex.EncodeToString(mac.Sum(nil))
}

func joinArray(values []json.RawMessage) []byte {
	return append(append([]byte{'['}, bytes.Join(asBytes(values), []byte{','})...), ']')
}

func asBytes(values []json.RawMessage) [][]byte {
	list := make([][]byte, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}
