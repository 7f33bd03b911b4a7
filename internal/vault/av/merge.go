package av

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// merge takes over what data has of a value: members that are not there stay as they are, lists are replaced. Its
// error is worded as the kernel's.
func (v *value) merge(data []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(data, &given); err != nil {
		return kernelError(err)
	}
	merged := *v
	for name := range given { // what is decoded into must be neither shared nor appended to
		merged.release(name)
	}
	if err := json.Unmarshal(data, &merged); err != nil {
		return kernelError(err)
	}
	merged.ID, merged.KeyID, merged.BlockID = v.ID, v.KeyID, v.BlockID
	merged.CreatedAt, merged.UpdatedAt = v.CreatedAt, v.UpdatedAt
	*v = merged
	return nil
}

// release makes the member of a name v's own, and empties it if it is a list.
func (v *value) release(name string) {
	own(name, "block", &v.Block)
	own(name, "text", &v.Text)
	own(name, "number", &v.Number)
	own(name, "date", &v.Date)
	own(name, "url", &v.URL)
	own(name, "email", &v.Email)
	own(name, "phone", &v.Phone)
	own(name, "template", &v.Template)
	own(name, "created", &v.Created)
	own(name, "updated", &v.Updated)
	own(name, "checkbox", &v.Checkbox)
	switch {
	case strings.EqualFold(name, "mSelect"):
		v.MSelect = nil
	case strings.EqualFold(name, "mAsset"):
		v.MAsset = nil
	case strings.EqualFold(name, "relation"):
		v.Relation = nil
	case strings.EqualFold(name, "rollup"):
		v.Rollup = nil
	}
}

func own[T any](name, member string, at **T) {
	if *at != nil && strings.EqualFold(name, member) {
		c := **at
		*at = &c
	}
}

// kernelError is an error of encoding/json with the names of types as the kernel has them.
func kernelError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	within := []rune(wrong.Struct)
	if len(within) == 0 {
		return err
	}
	within[0] = unicode.ToUpper(within[0])
	return fmt.Errorf("json: cannot unmarshal %s into Go struct field %s.%s of type %v", wrong.Value, string(within), wrong.Field, wrong.Type)
}
