package toolcache

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// This file walks through JSON texts without copying.

// foreignOptions are options for reading text that others wrote. Duplicate names and invalid UTF-8 must only fail the
// checks of one entry, not the parsing of all of them.
var foreignOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// scanner walks a JSON text and returns parts of it without copying.
type scanner struct {
	data []byte
	dec  *jsontext.Decoder
}

func newScanner(data []byte) *scanner {
	return &scanner{data, jsontext.NewDecoder(bytes.NewBuffer(data), foreignOptions...)}
}

// readValue skips the next value and returns it.
func (s *scanner) readValue() (json.RawMessage, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	return s.lastBytes(len(v)), nil
}

// lastBytes returns the last n bytes that were read.
func (s *scanner) lastBytes(n int) json.RawMessage {
	end := int(s.dec.InputOffset())
	return s.data[end-n : end : end]
}

// walkObject calls f for each member of the next value, an object, and returns the object. f must read the member's
// value.
func (s *scanner) walkObject(f func(name string) error) (json.RawMessage, error) {
	if err := s.readOpening('{', "an object"); err != nil {
		return nil, err
	}
	start := s.dec.InputOffset() - 1
	for s.dec.PeekKind() != '}' {
		name, err := s.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if err := f(name.String()); err != nil {
			return nil, err
		}
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return nil, err
	}
	end := s.dec.InputOffset()
	return s.data[start:end:end], nil
}

// walkArray calls f for each element of the next value, an array. f must read the element.
func (s *scanner) walkArray(f func(i int) error) error {
	if err := s.readOpening('[', "an array"); err != nil {
		return err
	}
	for i := 0; s.dec.PeekKind() != ']'; i++ {
		if err := f(i); err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken()
	return err
}

// readOpening reads the opening bracket that must come next. Any other value is left unread.
func (s *scanner) readOpening(kind jsontext.Kind, want string) error {
	switch got := s.dec.PeekKind(); got {
	case kind, '}', ']', jsontext.KindInvalid: // a stray closing bracket is an error of syntax, not a value of another kind
	default:
		return &typeError{want, kindName(got)}
	}
	_, err := s.dec.ReadToken()
	return err
}

// requireEnd returns an error if anything follows.
func (s *scanner) requireEnd() error {
	if rest := bytes.TrimLeft(s.data[s.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return &jsontext.SyntacticError{
			ByteOffset: int64(len(s.data) - len(rest)),
			Err:        fmt.Errorf("%q follows the end of the value", rest[:1]),
		}
	}
	return nil
}

// typeError says that a value has an unexpected type.
type typeError struct{ want, got string }

func (e *typeError) Error() string { return "expected " + e.want + ", got " + e.got }

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	default:
		return "nothing"
	}
}

// member is a member of an object, as it came.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of an object in order.
func members(raw []byte) ([]member, error) {
	var list []member
	s := newScanner(raw)
	_, err := s.walkObject(func(name string) error {
		v, err := s.readValue()
		list = append(list, member{name, v})
		return err
	})
	return list, err
}

// position returns line and column, in characters, both from 1.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset, 0), len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, len(bytes.Runes(before[start:])) + 1
}
