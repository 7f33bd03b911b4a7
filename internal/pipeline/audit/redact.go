package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"unicode/utf8"
)

// Content says how much of what a user wrote the audit keeps. Secrets are blanked at
// every level.
type Content string

// The levels of the setting audit.content.
const (
	ContentNone     Content = "none"     // neither arguments nor error messages
	ContentRedacted Content = "redacted" // the default: strings over 2 KiB are cut
	ContentFull     Content = "full"     // nothing is cut
)

const (
	blank = "***"

	maxString  = 2 << 10
	headBytes  = 1 << 10
	tailBytes  = 512
	maxArgs    = 64 << 10
	minPartial = 6 // shorter configured secrets match whole strings only
)

// Redactor takes secrets out of what the audit writes. It is safe for concurrent use.
//
// Blanked are: the values of fields whose name tells of a secret (password, token,
// api_key, authorization, cookie and the like, in any case and spelling); the configured
// secrets wherever they occur, in keys too; and what has the shape of a secret inside any
// string: keys of known providers, JSON Web Tokens, PEM private keys, Bearer and Basic
// credentials, user:password@ in URLs, password=… in text.
type Redactor struct {
	secrets atomic.Pointer[[][]byte] // longest first
	content Content
}

// NewRedactor returns a Redactor that blanks secrets wherever they occur; those shorter
// than six bytes only where they are a whole string or number. The zero Content means
// ContentRedacted.
func NewRedactor(secrets []string, content Content) *Redactor {
	r := &Redactor{content: cmp.Or(content, ContentRedacted)}
	r.Hide(secrets)
	return r
}

// Hide blanks further secrets from now on.
func (r *Redactor) Hide(secrets []string) {
	for {
		old := r.secrets.Load()
		all := withSecrets(old, secrets)
		if r.secrets.CompareAndSwap(old, &all) { // else somebody else has hidden others meanwhile
			return
		}
	}
}

func withSecrets(old *[][]byte, secrets []string) [][]byte {
	var all [][]byte
	if old != nil {
		all = slices.Clone(*old)
	}
	for _, s := range secrets {
		if s == "" || slices.ContainsFunc(all, func(b []byte) bool { return string(b) == s }) {
			continue
		}
		all = append(all, []byte(s))
		if quoted := appendString(nil, s); len(quoted) != len(s)+2 { // as it stands in JSON inside a string
			all = append(all, quoted[1:len(quoted)-1])
		}
	}
	slices.SortFunc(all, func(a, b []byte) int { return len(b) - len(a) })
	return all
}

// AppendJSON appends raw to b as one line of valid JSON, without its secrets. Nothing else
// changes but the space between tokens. What is not valid JSON, and what is over 64 KiB
// unless the content is full, becomes a string. Empty input becomes null.
func (r *Redactor) AppendJSON(b, raw []byte) []byte {
	if len(raw) == 0 {
		return append(b, "null"...)
	}
	if !json.Valid(raw) {
		return r.appendClean(b, raw)
	}
	start := len(b)
	b = r.walk(b, raw)
	if r.content != ContentFull && len(b)-start > maxArgs {
		text := bytes.Clone(b[start:])
		return appendString(b[:start], cut(text))
	}
	return b
}

// AppendText appends s to b as a JSON string without its secrets.
func (r *Redactor) AppendText(b []byte, s string) []byte {
	return r.appendClean(b, []byte(s))
}

// appendClean appends the unescaped s as a JSON string.
func (r *Redactor) appendClean(b, s []byte) []byte {
	s, _ = r.clean(s)
	return appendString(b, s)
}

// clean returns s without secrets and cut to size, and whether that changed it. s itself
// stays as it is.
func (r *Redactor) clean(s []byte) ([]byte, bool) {
	changed := false
	for _, secret := range *r.secrets.Load() {
		if len(secret) < minPartial {
			if bytes.Equal(s, secret) {
				return []byte(blank), true
			}
			continue
		}
		if bytes.Contains(s, secret) {
			s, changed = bytes.ReplaceAll(s, secret, []byte(blank)), true
		}
	}
	if t, ok := blankShapes(s); ok {
		s, changed = t, true
	}
	if r.content != ContentFull && len(s) > maxString {
		return cut(s), true
	}
	return s, changed
}

// cut keeps the head and the tail of s and says how much is missing. It cuts between
// runes.
func cut(s []byte) []byte {
	head, tail := headBytes, len(s)-tailBytes
	for head > headBytes-utf8.UTFMax && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s)-tailBytes+utf8.UTFMax && !utf8.RuneStart(s[tail]) {
		tail++
	}
	out := make([]byte, 0, headBytes+tailBytes+64)
	out = append(out, s[:head]...)
	out = fmt.Appendf(out, "…[%d of %d bytes left out]…", tail-head, len(s))
	return append(out, s[tail:]...)
}
