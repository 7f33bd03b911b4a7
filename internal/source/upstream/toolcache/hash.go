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

// pinned are the fields of a tool that make its definition.
var pinned = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}

// ToolHash is the lower-case hexadecimal SHA-256 of the canonical JSON (RFC 8785) of those fields
// of a tool that tell a model what it does: name, title, description, inputSchema, outputSchema
// and annotations. It is empty if def is not a JSON object.
func ToolHash(def json.RawMessage) string {
	all, err := members(def)
	if err != nil {
		return ""
	}
	all = slices.DeleteFunc(all, func(m member) bool { return !slices.Contains(pinned, m.name) })
	sum, err := canonicalSum(joinObject(all))
	if err != nil {
		return ""
	}
	return sum
}

// hashTools is the hash of a whole list, whatever the order of fields and the blanks in it.
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

// canonical returns the canonical form of raw, which is not changed.
func canonical(raw []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(raw))
	err := v.Canonicalize(foreign...)
	return v, err
}

// sealTools binds a list's hash to the very bytes of its definitions. Where the seal fits, the
// hash does too and need not be computed again, which is most of the time that loading takes.
func sealTools(hash string, defs []json.RawMessage) string {
	h := sha256.New()
	h.Write([]byte(hash))
	for _, def := range defs {
		h.Write([]byte{'\n'})
		h.Write(def)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// signSeal says that this home has written the seal: who edits the file can make a seal that
// fits, and no signature.
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
