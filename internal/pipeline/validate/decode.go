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

// exactDigits is how long a number may be to be compared exactly. The time and memory that
// exact arithmetic takes grow with the value, not with the length, of what is written.
const exactDigits = 1000

// mostValues bounds the values of one document, each of which takes some fifty bytes.
const mostValues = 2_000_000

var errTooMany = fmt.Errorf("they hold more than %d values", mostValues)

var readers = sync.Pool{New: func() any { return new(reader) }}

// reader decodes one JSON document and counts its values.
type reader struct {
	jsontext.Decoder
	values int
}

// decode reads one JSON value into what the validator takes, and counts the values in it.
// Numbers keep their digits, as [json.Number]. A name that an object has twice is an error
// unless twice is allowed: what is checked might not be what is used.
func decode(raw []byte, twice bool) (v any, values int, err error) {
	r, _ := readers.Get().(*reader)
	defer func() {
		r.Reset(new(bytes.Buffer)) // keeps none of raw
		readers.Put(r)
	}()
	r.values = 0
	r.Reset(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(twice), jsontext.AllowInvalidUTF8(true))
	if v, err = r.value(); err != nil {
		return nil, 0, err
	}
	if _, err := r.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, 0, errors.New("more than one JSON value")
	}
	return v, r.values, nil
}

func (r *reader) value() (any, error) {
	if r.values++; r.values > mostValues {
		return nil, errTooMany
	}
	t, err := r.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return r.object()
	case '[':
		return r.array()
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

func (r *reader) object() (any, error) {
	m := make(map[string]any)
	for r.PeekKind() != '}' {
		t, err := r.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		if m[name], err = r.value(); err != nil {
			return nil, err
		}
	}
	_, err := r.ReadToken()
	return m, err
}

func (r *reader) array() (any, error) {
	a := []any{}
	for r.PeekKind() != ']' {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := r.ReadToken()
	return a, err
}

// number returns the number written as s, rounded and held within 10^±1000 if it is longer
// or further from 1 than anybody needs.
func number(s string) json.Number {
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], s[i+1:]
	}
	e, err := strconv.Atoi(exponent)
	if len(mantissa) <= exactDigits && (exponent == "" || err == nil && e >= -exactDigits && e <= exactDigits) {
		return json.Number(s)
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range is ±Inf or 0
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

// unreadable says why the arguments are not JSON that can be checked.
func unreadable(err error) problem {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return problem{at: tokens(e.JSONPointer), text: "is given more than once"}
		}
		return problem{text: fmt.Sprintf("the arguments must be a JSON object, but are not valid JSON at byte %d: %s", e.ByteOffset, shorten(e.Err.Error(), 80)), whole: true}
	}
	if errors.Is(err, errTooMany) {
		return unchecked(err)
	}
	return problem{text: "the arguments must be a JSON object, but are not valid JSON: " + shorten(err.Error(), 80), whole: true}
}

// unchecked refuses arguments that nobody can hold against the schema at a bearable cost.
func unchecked(err error) problem {
	return problem{text: "the arguments cannot be checked: " + err.Error(), whole: true}
}

func tokens(p jsontext.Pointer) []string {
	var at []string
	for t := range p.Tokens() {
		at = append(at, t)
	}
	return at
}
