package toolcache

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// This file checks and writes single values: times, codes, versions, hashes.

// timeLayout is the only form of time in the file: UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

func parseTime(raw json.RawMessage) (time.Time, error) {
	s, err := unquote(raw)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(timeLayout, s)
	if err != nil || len(s) != len(timeLayout) {
		return time.Time{}, fmt.Errorf("expected a UTC time such as %q, got %.40q", "2026-11-21T02:50:10.123Z", s)
	}
	return t, nil
}

const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

// consistsOf reports whether s has only ASCII characters of chars. It stands for regular expressions, which would be compiled
// at each start.
func consistsOf(s, chars string) bool { return strings.Trim(s, chars) == "" }

// isWord reports whether s is a code: a lower-case letter, and then up to 63 letters, digits and underscores.
func isWord(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && len(s) <= 64 && consistsOf(s, letters+digits+"_")
}

// isVersion reports whether s is three numbers with dots between them.
func isVersion(s string) bool {
	parts := strings.Split(s, ".")
	number := func(part string) bool { return part != "" && consistsOf(part, digits) }
	return len(parts) == 3 && number(parts[0]) && number(parts[1]) && number(parts[2])
}

func checkHash(s string) error {
	if len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return fmt.Errorf("expected 64 hexadecimal digits in lower case, got %.80q", s)
	}
	return nil
}

func checkWord(s string) error {
	if !isWord(s) {
		return fmt.Errorf("expected a code of letters, digits and _, got %.80q", s)
	}
	return nil
}

func acceptAny(string) error { return nil }

// maxCount bounds every counter: a larger number cannot be a count.
const maxCount = 1e12

func parseCount(raw json.RawMessage) (uint64, error) {
	var n uint64
	if json.Unmarshal(raw, &n) != nil || string(raw) == "null" || n > maxCount {
		return 0, fmt.Errorf("expected a whole number from 0 to %d, got %.40s", uint64(maxCount), raw)
	}
	return n, nil
}

func decode(raw json.RawMessage, to any, want string) error {
	if string(raw) == "null" || json.Unmarshal(raw, to) != nil {
		return &typeError{want, kindName(jsontext.Value(raw).Kind())}
	}
	return nil
}

func expectKind(raw json.RawMessage, kind jsontext.Kind, want string) error {
	if got := jsontext.Value(raw).Kind(); got != kind {
		return &typeError{want, kindName(got)}
	}
	return nil
}

var errEscape = errors.New("expected a string, got one with a bad escape")

func unquote(raw json.RawMessage) (string, error) {
	if err := expectKind(raw, '"', "a string"); err != nil {
		return "", err
	}
	s, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", errEscape
	}
	return string(s), nil
}

// quote returns a JSON string; invalid UTF-8 is replaced.
func quote(s string) json.RawMessage {
	raw, err := jsontext.AppendQuote(nil, s)
	if err != nil && len(raw) == 0 {
		return json.RawMessage(`""`)
	}
	return raw
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("toolcache: %T does not encode: %v", v, err))
	}
	return raw
}

func encodeIf(ok bool, v any) json.RawMessage {
	if !ok {
		return nil
	}
	return encode(v)
}
