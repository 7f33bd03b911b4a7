package audit

import (
	"bytes"
	"encoding/base64"
)

// This file recognizes secrets by their form, such as the keys of known services, tokens and private keys.

// A shape is a kind of secret that can be recognized by its first bytes.
type shape struct {
	prefix string
	min    int // minimum number of bytes after the prefix
	class  *class
}

// class is a set of bytes.
type class [256]bool

func newClass(chars string) *class {
	var c class
	for i := range len(chars) {
		c[chars[i]] = true
	}
	return &c
}

const (
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"

	pemBegin = "-----BEGIN "
)

var (
	word      = newClass(upper + lower + digits + "_")
	dashed    = newClass(upper + lower + digits + "_-")
	capitals  = newClass(upper + digits)
	numerals  = newClass(digits)
	alnum     = newClass(upper + lower + digits)
	tokenChar = newClass(upper + lower + digits + "-._~+/=")

	// shapes are the keys of known providers, by the last byte of their prefix, which the scan looks for.
	shapes = map[byte][]shape{
		'-': {
			{"sk-", 16, dashed},
			{"xoxb-", 8, dashed},
			{"xoxa-", 8, dashed},
			{"xoxp-", 8, dashed},
			{"xoxr-", 8, dashed},
			{"xoxs-", 8, dashed},
			{"xapp-", 8, dashed},
			{"glpat-", 16, dashed},
			{"pypi-", 32, dashed},
		},
		'_': {
			{"ghp_", 16, word},
			{"gho_", 16, word},
			{"ghu_", 16, word},
			{"ghs_", 16, word},
			{"ghr_", 16, word},
			{"github_pat_", 16, word},
			{"hf_", 20, word},
			{"npm_", 20, word},
			{"sk_live_", 16, word},
			{"sk_test_", 16, word},
			{"rk_live_", 16, word},
			{"whsec_", 16, tokenChar},
		},
		'A': {{"AKIA", 16, capitals}, {"ASIA", 16, capitals}},
		'a': {{"AIza", 30, dashed}},
	}

	// triggers are the bytes at which the scan looks closer; they are rare in ordinary text.
	triggers = [...]*class{
		forBlocks:      newClass("-"),
		forKeys:        newClass("-_AaJ: \t"),
		forAssignments: newClass("=:"),
	}
)

// span is a half-open range of a string. The zero span is empty.
type span struct{ start, end int }

// scan is one pass over a string.
type scan struct {
	wanted  wanted
	noToken int // no web token ends before this index
}

// wanted selects what a scan looks for.
type wanted int

const (
	forBlocks wanted = iota
	forKeys
	forAssignments
)

// blankShapes returns s with everything blanked that has the form of a secret, and whether there was any. It
// allocates nothing if there is none. Secrets with a form of their own are blanked before values of
// assignments, because such a value could swallow the beginning of one.
func blankShapes(s []byte) ([]byte, bool) {
	blocks, assignments := false, false
	if bytes.Contains(s, []byte(pemBegin)) {
		s, blocks = (&scan{wanted: forBlocks}).blankFound(s)
	}
	s, keys := (&scan{wanted: forKeys}).blankFound(s)
	if bytes.IndexByte(s, '=') >= 0 || bytes.IndexByte(s, ':') >= 0 {
		s, assignments = (&scan{wanted: forAssignments}).blankFound(s)
	}
	return s, blocks || keys || assignments
}

// blankFound returns s with everything blanked that the scan is set to find, and whether there was any.
func (sc *scan) blankFound(s []byte) ([]byte, bool) {
	var out []byte
	done := 0
	trigger := triggers[sc.wanted]
	for i := 0; i < len(s); i++ {
		if !trigger[s[i]] {
			continue
		}
		found := sc.secretAt(s, i)
		found.start = max(found.start, done)
		if found.end <= found.start {
			continue
		}
		out = append(append(out, s[done:found.start]...), blank...)
		done = found.end
		// Look at the last byte again: in "password= Cookie: a=b" the value that ends there is itself the
		// name of another assignment.
		i = max(i, found.end-2)
	}
	if done == 0 {
		return s, false
	}
	return append(out, s[done:]...), true
}

// secretAt returns the secret that the trigger byte at i is part of.
func (sc *scan) secretAt(s []byte, i int) span {
	switch sc.wanted {
	case forBlocks:
		return privateKey(s, i)
	case forAssignments:
		return findAssignedSecret(s, i)
	case forKeys:
	}
	switch s[i] {
	case ' ', '\t':
		return credentials(s, i)
	case 'J':
		return webToken(s, i, &sc.noToken)
	case ':':
		return userInfo(s, i)
	}
	return providerKey(s, i)
}

func providerKey(s []byte, i int) span {
	// An optimization: most bytes that get here are letters of ordinary words, and a look into the map costs
	// more.
	if c := s[i]; (c == 'A' && (i < 3 || s[i-1] != 'I')) || (c == 'a' && (i < 3 || s[i-1] != 'z')) {
		return span{}
	}
	for _, sh := range shapes[s[i]] {
		start := i + 1 - len(sh.prefix)
		if start < 0 || string(s[start:i+1]) != sh.prefix || !startsWord(s, start) {
			continue
		}
		if end := classEnd(s, i+1, sh.class); end-i-1 >= sh.min {
			return span{start, end}
		}
	}
	return span{}
}

// webToken finds a JSON Web Token: three parts in base64url; the first starts with eyJ, which is `{"`. It
// sets *skip to the end of what it has read without finding a token, so that a long text without tokens is
// read only once.
func webToken(s []byte, i int, skip *int) span {
	if i < 2 || i < *skip || s[i-1] != 'y' || s[i-2] != 'e' || !startsWord(s, i-2) {
		return span{}
	}
	dot := classEnd(s, i, dashed)
	if dot-i < 8 || dot >= len(s) || s[dot] != '.' {
		*skip = dot
		return span{}
	}
	end := classEnd(s, dot+1, dashed)
	if end-dot < 5 {
		return span{}
	}
	for end < len(s) && s[end] == '.' {
		end = classEnd(s, end+1, dashed)
	}
	return span{i - 2, end}
}

// privateKey finds a PEM block of a private key. A block without an end reaches to the end of s.
func privateKey(s []byte, i int) span {
	const end, dashes = "-----END ", "-----"
	if !bytes.HasPrefix(s[i:], []byte(pemBegin)) {
		return span{}
	}
	label := s[i+len(pemBegin):]
	n := bytes.Index(label, []byte(dashes))
	if n < 0 || !bytes.Contains(label[:n], []byte("PRIVATE KEY")) {
		return span{}
	}
	from := i + len(pemBegin) + n
	last := bytes.Index(s[from:], []byte(end))
	if last < 0 {
		return span{i, len(s)}
	}
	from += last + len(end)
	if n := bytes.Index(s[from:], []byte(dashes)); n >= 0 {
		return span{i, from + n + len(dashes)}
	}
	return span{i, len(s)}
}

// credentials finds the text after "Bearer " or "Basic ".
func credentials(s []byte, i int) span {
	if i < 5 || s[i-1]|0x20 != 'r' && s[i-1]|0x20 != 'c' {
		return span{}
	}
	start := i
	for start < len(s) && (s[start] == ' ' || s[start] == '\t') {
		start++
	}
	end := classEnd(s, start, tokenChar)
	switch {
	case hasSuffixFold(s[:i], "bearer") && end-start >= 6:
		return span{start, end}
	case hasSuffixFold(s[:i], "basic") && end-start >= 4 && holdsColon(s[start:end]):
		return span{start, end}
	}
	return span{}
}

// holdsColon distinguishes the credentials of a Basic header from an ordinary word.
func holdsColon(b64 []byte) bool {
	text, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(b64, "=.")))
	return err == nil && bytes.IndexByte(text, ':') >= 0
}

// userInfo finds user:password in scheme://user:password@host.
func userInfo(s []byte, i int) span {
	if !bytes.HasPrefix(s[i:], []byte("://")) {
		return span{}
	}
	start := i + len("://")
	end := start
	for end < len(s) && bytes.IndexByte([]byte("/?# \t\r\n\"'<>`"), s[end]) < 0 {
		end++
	}
	at := bytes.LastIndexByte(s[start:end], '@')
	if at < 0 || bytes.IndexByte(s[start:start+at], ':') < 0 {
		return span{}
	}
	return span{start, start + at}
}

// classEnd returns the end of the bytes of class c that start at i.
func classEnd(s []byte, i int, c *class) int {
	for i < len(s) && c[s[i]] {
		i++
	}
	return i
}

func startsWord(s []byte, i int) bool { return i == 0 || !alnum[s[i-1]] }

func hasSuffixFold(s []byte, suffix string) bool {
	return len(s) >= len(suffix) && bytes.EqualFold(s[len(s)-len(suffix):], []byte(suffix))
}
