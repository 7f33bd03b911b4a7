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

// This file removes secrets from what is recorded, and cuts long texts.

// Content says how much of the users' texts the audit keeps. Secrets are blanked at every level.
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
	minPartial = 6 // a shorter configured secret matches only a whole string
)

// Redactor removes secrets from records. It is safe for concurrent use.
//
// It blanks: values of fields whose names suggest a secret (password, token, api_key, authorization, cookie
// and the like, in any case and spelling); the configured secrets wherever they occur, in keys too; and text
// inside strings that has the form of a secret: keys of known providers, JSON Web Tokens, PEM private keys,
// Bearer and Basic credentials, user:password@ in URLs, password=… in text.
type Redactor struct {
	secrets atomic.Pointer[[][]byte] // longest first
	content Content
}

// NewRedactor returns a Redactor that blanks secrets wherever they occur; a secret shorter than six bytes
// only if it is a whole string or number. The zero Content means ContentRedacted.
func NewRedactor(secrets []string, content Content) *Redactor {
	r := &Redactor{content: cmp.Or(content, ContentRedacted)}
	r.Hide(secrets)
	return r
}

// Hide adds secrets that are blanked from now on.
func (r *Redactor) Hide(secrets []string) {
	for {
		old := r.secrets.Load()
		all := withSecrets(old, secrets)
		if r.secrets.CompareAndSwap(old, &all) { // if it fails, another call of Hide was faster: try again
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
		if quoted := appendString(nil, s); len(quoted) != len(s)+2 { // the secret as it occurs inside a JSON string
			all = append(all, quoted[1:len(quoted)-1])
		}
	}
	slices.SortFunc(all, func(a, b []byte) int { return len(b) - len(a) })
	return all
}

// AppendJSON appends raw to b as one line of valid JSON, without secrets. Otherwise it changes only the white
// space between tokens. Invalid JSON becomes a string, as does a text over 64 KiB unless Content is full.
// Empty input becomes null.
func (r *Redactor) AppendJSON(b, raw []byte) []byte {
	if len(raw) == 0 {
		return append(b, "null"...)
	}
	if !json.Valid(raw) {
		return r.appendClean(b, raw)
	}
	start := len(b)
	b = r.appendRedacted(b, raw)
	if r.content != ContentFull && len(b)-start > maxArgs {
		text := bytes.Clone(b[start:])
		return appendString(b[:start], cutMiddle(text))
	}
	return b
}

// AppendText appends s to b as a JSON string without secrets.
func (r *Redactor) AppendText(b []byte, s string) []byte {
	return r.appendClean(b, []byte(s))
}

// Text returns s without secrets.
func (r *Redactor) Text(s string) string {
	if clean, changed := r.clean([]byte(s)); changed {
		return string(clean)
	}
	return s
}

// appendClean appends the unescaped text s as a JSON string without secrets.
func (r *Redactor) appendClean(b, s []byte) []byte {
	s, _ = r.clean(s)
	return appendString(b, s)
}

// clean returns s without secrets and cut to size, and whether it differs from s. It does not modify s.
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
		return cutMiddle(s), true
	}
	return s, changed
}

// cutMiddle keeps the start and the end of s and says how much is missing. It does not split runes.
func cutMiddle(s []byte) []byte {
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
