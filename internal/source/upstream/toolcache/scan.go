package toolcache

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// foreign is how texts are read that others wrote: names that stand twice and bytes that are not
// UTF-8 are for the checks of one entry, which must not cost all others.
var foreign = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// scanner walks a JSON text and hands out parts of it without copying.
type scanner struct {
	data []byte
	dec  *jsontext.Decoder
}

func newScanner(data []byte) *scanner {
	return &scanner{data, jsontext.NewDecoder(bytes.NewBuffer(data), foreign...)}
}

// value skips the next value and returns it.
func (s *scanner) value() (json.RawMessage, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	return s.last(len(v)), nil
}

// last is the last n bytes that were read.
func (s *scanner) last(n int) json.RawMessage {
	end := int(s.dec.InputOffset())
	return s.data[end-n : end : end]
}

// object calls f for each member of the object that comes next and returns the object; f reads
// the value.
func (s *scanner) object(f func(name string) error) (json.RawMessage, error) {
	if err := s.open('{', "an object"); err != nil {
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

// array calls f for each element of the array that comes next; f reads the element.
func (s *scanner) array(f func(i int) error) error {
	if err := s.open('[', "an array"); err != nil {
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

// open reads the bracket that must come next; what comes instead is not read.
func (s *scanner) open(kind jsontext.Kind, want string) error {
	switch got := s.dec.PeekKind(); got {
	case kind, '}', ']', jsontext.KindInvalid: // brackets that close nothing are not a value
	default:
		return &typeError{want, kindName(got)}
	}
	_, err := s.dec.ReadToken()
	return err
}

// end reports whether nothing follows.
func (s *scanner) end() error {
	if rest := bytes.TrimLeft(s.data[s.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return &jsontext.SyntacticError{
			ByteOffset: int64(len(s.data) - len(rest)),
			Err:        fmt.Errorf("%q follows the end of the value", rest[:1]),
		}
	}
	return nil
}

// typeError is a value of another kind than expected.
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

// member is a field that is kept as it came.
type member struct {
	name  string
	value json.RawMessage
}

// members are those of an object, in order.
func members(raw []byte) ([]member, error) {
	var list []member
	s := newScanner(raw)
	_, err := s.object(func(name string) error {
		v, err := s.value()
		list = append(list, member{name, v})
		return err
	})
	return list, err
}

// position is a line and a column, in characters, both from 1.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset, 0), len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, len(bytes.Runes(before[start:])) + 1
}
