package jsonschema

import "errors"

// ErrSteps is the error of a check that takes more steps than it may.
var ErrSteps = errors.New("checking takes too many steps")

// ValidateWithin is Validate that may apply schemas to values most times, else it returns ErrSteps: a schema of a few
// hundred bytes, whose references lead to references, can ask for more steps than there is time.
func (sch *Schema) ValidateWithin(v any, most int) error {
	err := sch.validateWithin(&most, v, nil, nil, nil, false, nil)
	if most < 0 {
		return ErrSteps
	}
	return err
}

func (sch *Schema) validate(v any, regexpEngine RegexpEngine, meta *Schema, resources map[jsonPointer]*resource, assertVocabs bool, vocabularies map[string]*Vocabulary) error {
	return sch.validateWithin(nil, v, regexpEngine, meta, resources, assertVocabs, vocabularies)
}

// errSpent is what each schema says of each value once no steps are left. Nobody sees it.
var errSpent = &ValidationError{}

// step counts one; false means that there was none left.
func (sc *scope) step() bool {
	if sc.left == nil {
		return true
	}
	*sc.left--
	return *sc.left >= 0
}
