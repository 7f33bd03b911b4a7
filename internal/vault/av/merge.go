package av

import (
	"encoding/json"
	"strings"
)

// merge takes over what data has of a value: members that are not there stay as they are, lists are replaced.
func (v *value) merge(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	merged := *v
	for name := range members { // what is decoded into must be neither shared nor appended to
		merged.ownMember(name)
	}
	if err := json.Unmarshal(data, &merged); err != nil {
		return err
	}
	merged.ID, merged.KeyID, merged.BlockID = v.ID, v.KeyID, v.BlockID
	merged.CreatedAt, merged.UpdatedAt = v.CreatedAt, v.UpdatedAt
	*v = merged
	return nil
}

// ownMember makes the member of a name v's own, and empties it if it is a list.
func (v *value) ownMember(name string) {
	ownPointer(name, "block", &v.Block)
	ownPointer(name, "text", &v.Text)
	ownPointer(name, "number", &v.Number)
	ownPointer(name, "date", &v.Date)
	ownPointer(name, "url", &v.URL)
	ownPointer(name, "email", &v.Email)
	ownPointer(name, "phone", &v.Phone)
	ownPointer(name, "template", &v.Template)
	ownPointer(name, "created", &v.Created)
	ownPointer(name, "updated", &v.Updated)
	ownPointer(name, "checkbox", &v.Checkbox)
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

func ownPointer[T any](name, member string, at **T) {
	if *at != nil && strings.EqualFold(name, member) {
		c := **at
		*at = &c
	}
}
