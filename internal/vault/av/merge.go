package av

import (
	"encoding/json"
	"strings"
)

// merge sets the members of v that are in data. Other members stay as they are; lists are replaced. The identity and
// times of v do not change.
func (v *value) merge(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	merged := *v
	for name := range members { // json.Unmarshal would write into members shared with *v, and keep old items of lists
		merged.detachMember(name)
	}
	if err := json.Unmarshal(data, &merged); err != nil {
		return err
	}
	merged.ID, merged.KeyID, merged.BlockID = v.ID, v.KeyID, v.BlockID
	merged.CreatedAt, merged.UpdatedAt = v.CreatedAt, v.UpdatedAt
	*v = merged
	return nil
}

// detachMember replaces the member with a name by a copy, or by nothing if it is a list.
func (v *value) detachMember(name string) {
	detachPointer(name, "block", &v.Block)
	detachPointer(name, "text", &v.Text)
	detachPointer(name, "number", &v.Number)
	detachPointer(name, "date", &v.Date)
	detachPointer(name, "url", &v.URL)
	detachPointer(name, "email", &v.Email)
	detachPointer(name, "phone", &v.Phone)
	detachPointer(name, "template", &v.Template)
	detachPointer(name, "created", &v.Created)
	detachPointer(name, "updated", &v.Updated)
	detachPointer(name, "checkbox", &v.Checkbox)
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

// detachPointer is detachMember for one member, to which at points.
func detachPointer[T any](name, member string, at **T) {
	if *at != nil && strings.EqualFold(name, member) {
		c := **at
		*at = &c
	}
}
