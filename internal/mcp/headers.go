package mcp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The header fields of MCP over HTTP, in net/http's spelling.
const (
	headerVersion   = "Mcp-Protocol-Version"
	headerSession   = "Mcp-Session-Id"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"
	headerParam     = "Mcp-Param-" // and a name
	headerLastEvent = "Last-Event-Id"
)

// The marks around a header value in Base64 (2026-07-28, Value Encoding).
const (
	sentinelBegin = "=?base64?"
	sentinelEnd   = "?="
)

// EncodeHeaderValue returns s as the value of an Mcp-Name or Mcp-Param-* header: s itself if it is plain
// ASCII without surrounding spaces, else Base64 between marks (2026-07-28, Value Encoding).
func EncodeHeaderValue(s string) string {
	if isPlain(s) && !(strings.HasPrefix(s, sentinelBegin) && strings.HasSuffix(s, sentinelEnd)) {
		return s
	}
	return sentinelBegin + base64.StdEncoding.EncodeToString([]byte(s)) + sentinelEnd
}

// decodeHeaderValue is the reverse of [EncodeHeaderValue]. It fails if v has characters that headers may not
// have, or has the marks but no UTF-8 text in Base64 between them.
func decodeHeaderValue(v string) (string, error) {
	inner, ok := strings.CutPrefix(v, sentinelBegin)
	if ok {
		inner, ok = strings.CutSuffix(inner, sentinelEnd)
	}
	if !ok {
		for i := range len(v) {
			if c := v[i]; c != '\t' && (c < ' ' || c > '~') {
				return "", fmt.Errorf("header value has the character %q", c)
			}
		}
		return v, nil
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(inner)
	if err != nil {
		return "", fmt.Errorf("header value is not Base64: %w", err)
	}
	if !utf8.Valid(raw) {
		return "", errors.New("header value is not UTF-8")
	}
	return string(raw), nil
}

// isPlain reports whether s arrives unchanged as a header value. Tabs do not count as plain, because some
// programs change them.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return s == "" || s[0] != ' ' && s[len(s)-1] != ' '
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			continue
		}
		if strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
