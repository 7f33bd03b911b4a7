package dirstore

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// slug makes a name for the files of a server: readable where the server's name allows it,
// different for different names also where case does not count, and none that a file system
// refuses.
func slug(server string) string {
	readable := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, server)
	if len(readable) > 40 {
		readable = readable[:40]
	}
	sum := sha256.Sum256([]byte(server))
	return readable + "-" + hex.EncodeToString(sum[:8])
}
