package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// This file makes the names under which clients see actions in the flat view.

const (
	// maxListed is the longest name, as model APIs accept it; cutListed is what is left of a longer one before its digest.
	maxListed = 64
	cutListed = 55
)

// ListedName returns the name of an action, or of a prompt, in the flat view, provided that no other one wants the same
// name: its prefix and shown, which is its alias or its own name, with "_" for characters that a name may not have. A name
// of more than 64 characters is cut and gets a digest of owner and original, the names of its Tool and its own, as a suffix.
func ListedName(prefix, shown, owner, original string) string {
	name := CleanName(prefix + shown)
	if len(name) > maxListed {
		return DigestName(name, owner, original)
	}
	return name
}

// CleanName replaces characters that a listed name may not have by "_".
func CleanName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// DigestName returns a clean name, cut if needed, with a digest of owner and original behind it, which makes it unique.
func DigestName(name, owner, original string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + original))
	return name[:min(len(name), cutListed)] + "_" + hex.EncodeToString(sum[:4])
}
