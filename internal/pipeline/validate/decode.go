package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// This file decodes arguments for the validator, within limits.

// exactDigits is the length up to which numbers are compared exactly. The time and memory of exact arithmetic
// grow with the value of a number, not with the length of its text.
const exactDigits = 1000

// maxValues is the maximum number of values in one document; each takes about fifty bytes.
const maxValues = 2_000_000

var errTooMany = fmt.Errorf("they hold more than %d values", maxValues)

var readerPool = sync.Pool{New: func() any { return new(reader) }}

// reader decodes one JSON document and counts its values.
type reader struct {
	jsontext.Decoder
	values int
}

// decode reads one JSON value in the form that the validator takes, and counts its values. Numbers keep their
// digits, as [json.Number]. A name that occurs twice in an object is an error unless twice is set: the server
// might use a different value than the one that was checked.
func decode(raw []byte, twice bool) (v any, values int, err error) {
	r, _ := readerPool.Get().(*reader)
	defer func() {
		r.Reset(new(bytes.Buffer)) // so that it does not keep raw in memory
		readerPool.Put(r)
	}()
	r.values = 0
	r.Reset(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(twice), jsontext.AllowInvalidUTF8(true))
	if v, err = r.readValue(); err != nil {
		return nil, 0, err
	}
	if _, err := r.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, 0, errors.New("more than one JSON value")
	}
	return v, r.values, nil
}

func (r *reader) readValue() (any, error) {
	if r.values++; r.values > maxValues {
		return nil, errTooMany
	}
	t, err := r.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return r.readObject()
	case '[':
		return r.readArray()
	case '"':
		return t.String(), nil
	case '0':
		return number(t.String()), nil
	case 't', 'f':
		return t.Bool(), nil
	default:
		return nil, nil
	}
}

func (r *reader) readObject() (any, error) {
	m := make(map[string]any)
	for r.PeekKind() != '}' {
		t, err := r.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		if m[name], err = r.readValue(); err != nil {
			return nil, err
		}
	}
	_, err := r.ReadToken()
	return m, err
}

func (r *reader) readArray() (any, error) {
	a := []any{}
	for r.PeekKind() != ']' {
		v, err := r.readValue()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := r.ReadToken()
	return a, err
}

// number returns the number written as s. If s is longer than exactDigits or has a larger exponent, the number is rounded
// to a float64. A number that is too large or too small for that becomes 10^±1000, with its sign if it is too large.
func number(s string) json.Number {
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], s[i+1:]
	}
	e, err := strconv.Atoi(exponent)
	if len(mantissa) <= exactDigits && (exponent == "" || err == nil && e >= -exactDigits && e <= exactDigits) {
		return json.Number(s)
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range gives ±Inf or 0
	switch {
	case math.IsInf(f, 1):
		return json.Number("1e" + strconv.Itoa(exactDigits))
	case math.IsInf(f, -1):
		return json.Number("-1e" + strconv.Itoa(exactDigits))
	case f == 0 && strings.ContainsAny(mantissa, "123456789"):
		return json.Number("1e-" + strconv.Itoa(exactDigits))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// unreadableProblem returns the problem of arguments that are not valid JSON.
func unreadableProblem(err error) problem {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return problem{at: tokens(e.JSONPointer), text: "is given more than once"}
		}
		return problem{text: fmt.Sprintf("the arguments must be a JSON object, but are not valid JSON at byte %d: %s", e.ByteOffset, shorten(e.Err.Error(), 80)), whole: true}
	}
	if errors.Is(err, errTooMany) {
		return uncheckedProblem(err)
	}
	return problem{text: "the arguments must be a JSON object, but are not valid JSON: " + shorten(err.Error(), 80), whole: true}
}

// uncheckedProblem returns the problem of arguments that are too expensive to check against the schema.
func uncheckedProblem(err error) problem {
	return problem{text: "the arguments cannot be checked: " + err.Error(), whole: true}
}

func tokens(p jsontext.Pointer) []string {
	var at []string
	for t := range p.Tokens() {
		at = append(at, t)
	}
	return at
}
