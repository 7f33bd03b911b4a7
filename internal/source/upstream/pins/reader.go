package pins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"collie/internal/mcp"
)

// This file parses the file of pins quickly, since it is read at each start.

// reader parses a file in one pass and copies only the definitions that are wanted, since the others make up
// megabytes at each start.
type reader struct {
	raw  []byte
	keep bool
	dec  *jsontext.Decoder
}

func newReader(raw []byte, keep bool) *reader {
	// Servers may have sent invalid UTF-8 and duplicate names, which are kept as they are.
	return &reader{raw, keep, jsontext.NewDecoder(bytes.NewBuffer(raw),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// object calls member for each member of the next value, an object. member must read the value.
func (r *reader) object(member func(key string) error) error {
	t, err := r.dec.ReadToken()
	if err != nil {
		return err
	}
	if t.Kind() != '{' {
		return errors.New("expected an object")
	}
	for r.dec.PeekKind() != '}' {
		key, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		name := key.String()
		if err := member(name); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	_, err = r.dec.ReadToken()
	return err
}

// value returns the next value, sharing memory with the input.
func (r *reader) value() (json.RawMessage, error) {
	v, err := r.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := r.dec.InputOffset()
	start := end - int64(len(v))
	return json.RawMessage(r.raw[start:end:end]), nil
}

func (r *reader) skip() error { return r.dec.SkipValue() }

func (r *reader) end() error {
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("text after the end of the object")
	}
	return nil
}

func (r *reader) record() (*record, error) {
	p := &record{}
	err := r.object(func(key string) (err error) {
		switch key {
		case "hash":
			p.hash, err = r.digest()
		case "digest":
			p.digest, err = r.digest()
		case "firstSeen":
			p.firstSeen, err = r.time()
		case "approvedAt":
			p.approved, err = r.time()
		case "definition":
			before := r.dec.InputOffset()
			p.definition, err = r.definition(r.keep)
			p.stored, p.size = true, int(r.dec.InputOffset()-before)
		case "pending":
			p.pending, err = r.pending()
		default:
			err = r.skip()
		}
		return err
	})
	if err == nil && p.hash == "" {
		err = errors.New("hash is missing")
	}
	return p, err
}

func (r *reader) pending() (*sighting, error) {
	p := &sighting{}
	err := r.object(func(key string) (err error) {
		switch key {
		case "hash":
			p.hash, err = r.digest()
		case "digest":
			p.digest, err = r.digest()
		case "seenAt":
			p.at, err = r.time()
		case "changed":
			var v json.RawMessage
			if v, err = r.value(); err == nil {
				err = json.Unmarshal(v, &p.changed)
			}
		case "definition":
			p.definition, err = r.definition(true)
			if !r.keep {
				p.definition = bytes.Clone(p.definition)
			}
		default:
			err = r.skip()
		}
		return err
	})
	if err == nil && p.hash == "" {
		err = errors.New("hash is missing")
	}
	return p, err
}

// definition reads an object, and returns it only if it is wanted.
func (r *reader) definition(wanted bool) (json.RawMessage, error) {
	if r.dec.PeekKind() != '{' {
		return nil, errors.New("expected an object")
	}
	if !wanted {
		return nil, r.skip()
	}
	return r.value()
}

func (r *reader) digest() (string, error) {
	v, err := r.value()
	if err != nil {
		return "", err
	}
	s, ok := mcp.Text(v)
	if !ok || !isDigest(s) {
		return "", errors.New("expected 64 hexadecimal digits in lower case")
	}
	return s, nil
}

// isDigest reports whether s is a SHA-256 as lower-case hexadecimal digits.
func isDigest(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}

func (r *reader) time() (time.Time, error) {
	v, err := r.value()
	if err != nil {
		return time.Time{}, err
	}
	s, _ := mcp.Text(v)
	return time.Parse(time.RFC3339, s)
}
