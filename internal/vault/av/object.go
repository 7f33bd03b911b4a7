package av

import "maps"

// object is a JSON object whose members are not all known here: columns and views, which are kept as they came.
type object map[string]any

// str returns the text at a key, "" when there is none.
func (o object) str(key string) string {
	text, _ := o[key].(string)
	return text
}

// flag is the boolean at a key, false when there is none.
func (o object) flag(key string) bool {
	on, _ := o[key].(bool)
	return on
}

// num returns the number at a key, or otherwise when there is none.
func (o object) num(key string, otherwise int) int {
	switch n := o[key].(type) {
	case float64:
		return int(n)
	case int:
		return n
	}
	return otherwise
}

// at returns the object at a key, nil when there is none.
func (o object) at(key string) object { return asObject(o[key]) }

// list returns the list at a key, nil when there is none.
func (o object) list(key string) []any {
	list, _ := o[key].([]any)
	return list
}

// objects returns the objects of the list at a key.
func (o object) objects(key string) []object {
	var found []object
	for _, item := range o.list(key) {
		if inner := asObject(item); inner != nil {
			found = append(found, inner)
		}
	}
	return found
}

// strs returns the texts of the list at a key.
func (o object) strs(key string) []string {
	var found []string
	for _, item := range o.list(key) {
		if text, is := item.(string); is {
			found = append(found, text)
		}
	}
	return found
}

// with returns a copy of o with the members of more.
func (o object) with(more ...object) object {
	c := maps.Clone(o)
	if c == nil {
		c = object{}
	}
	for _, other := range more {
		maps.Copy(c, other)
	}
	return c
}

func asObject(v any) object {
	switch inner := v.(type) {
	case map[string]any:
		return inner
	case object:
		return inner
	}
	return nil
}

// anys returns texts as they stand in the list of an object.
func anys(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}
