package audit

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// This file goes through a JSON text and copies it without secrets.

// appendRedacted appends raw, which is valid JSON, without secrets and without white space between tokens. It needs no
// stack: in valid JSON a string is a key if a colon follows.
func (r *Redactor) appendRedacted(b, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '{', '}', '[', ']', ',', ':':
			b = append(b, c)
			i++
		case '"':
			end := stringEnd(raw, i)
			token := raw[i:end]
			b = r.appendToken(b, token)
			i = end
			if colon := skipSpace(raw, end); colon < len(raw) && raw[colon] == ':' {
				i = skipSpace(raw, colon+1)
				b = append(b, ':')
				if isSecretField(token, raw[i]) {
					b = append(b, `"`+blank+`"`...)
					i = valueEnd(raw, i)
				}
			}
		default:
			end := scalarEnd(raw, i)
			b = r.appendScalar(b, raw[i:end])
			i = end
		}
	}
	return b
}

// appendToken appends a string token. A string without secrets keeps its spelling.
func (r *Redactor) appendToken(b, token []byte) []byte {
	var stack [512]byte
	text := token[1 : len(token)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = unescape(stack[:0], text)
	}
	if clean, changed := r.clean(text); changed {
		return appendString(b, clean)
	}
	return append(b, token...)
}

// appendScalar appends a number or a literal.
func (r *Redactor) appendScalar(b, token []byte) []byte {
	for _, s := range *r.secrets.Load() {
		if bytes.Equal(token, s) || len(s) >= minPartial && bytes.Contains(token, s) {
			return append(b, `"`+blank+`"`...)
		}
	}
	return append(b, token...)
}

// isSecretField reports whether the value of the field named key must be blanked. first is the first byte of
// the value: true, false and null are never secrets, and numbers with names such as max_tokens are counts.
func isSecretField(key []byte, first byte) bool {
	var stack [128]byte
	name := key[1 : len(key)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = unescape(stack[:0], name)
	}
	switch first {
	case 't', 'f', 'n':
		return false
	case '"', '{', '[':
		return isSecretName(name)
	}
	return isSecretName(name) && !countsTokens(name)
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that starts at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// scalarEnd returns the index after the number or literal that starts at i.
func scalarEnd(raw []byte, i int) int {
	for ; i < len(raw); i++ {
		switch raw[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}

// valueEnd returns the index after the value that starts at i.
func valueEnd(raw []byte, i int) int {
	if raw[i] != '"' && raw[i] != '{' && raw[i] != '[' {
		return scalarEnd(raw, i)
	}
	for depth := 0; ; {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			i++
		}
		if depth == 0 {
			return i
		}
	}
}

// unescape appends the text that the inside of a valid JSON string encodes.
func unescape(b, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r := hexRune(s[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				if i+2 < len(s) && s[i+1] == '\\' && s[i+2] == 'u' {
					if pair := utf16.DecodeRune(r, hexRune(s[i+3:])); pair != utf8.RuneError {
						b = utf8.AppendRune(b, pair)
						i += 6
						continue
					}
				}
				r = utf8.RuneError
			}
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, s[i])
		}
	}
	return b
}

func hexRune(s []byte) rune {
	n, err := strconv.ParseUint(string(s[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
