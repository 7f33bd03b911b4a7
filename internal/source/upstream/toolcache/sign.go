package toolcache

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
)

// integrityField holds the signature of an entry in a shared place .
const integrityField = "integrity"

const signAlgorithm = "hmac-sha256"

// integrity is a signature. It covers the canonical form of the entry without it, so that a
// place may lay the entry out anew, and the name under which it lies.
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

// verified returns an entry without its signature, if that fits.
func verified(key []byte, name string, entry json.RawMessage) (json.RawMessage, error) {
	list, err := members(entry)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, isIntegrity)
	if i < 0 {
		return nil, errSignature
	}
	var given integrity
	if err := decode(list[i].value, &given, "a signature"); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, isIntegrity)
	mac, err := macOf(key, name, list)
	if err != nil {
		return nil, err
	}
	theirs, err := hex.DecodeString(given.MAC)
	if err != nil || given.Alg != signAlgorithm || !hmac.Equal(theirs, mac) {
		return nil, errSignature
	}
	return joinObject(list), nil
}

func isIntegrity(m member) bool { return m.name == integrityField }

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
