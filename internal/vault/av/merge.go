package av

import (
	"encoding/json"
	"strings"
)

// merge takes over what data has of a value: members that are not there stay as they are, lists are replaced.
func (v *value) merge(data []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(data, &given); err != nil {
		return err
	}
	merged := *v
	for name := range given { // what is decoded into must be neither shared nor appended to
		merged.release(name)
	}
	if err := json.Unmarshal(data, &merged); err != nil {
		return err
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
