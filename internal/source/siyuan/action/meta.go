package action

// The arguments that every action takes besides its own. Some are only for actions whose class writes.
type metaArgs struct {
	Verbose bool `json:"verbose" about:"all fields of the result"`
}

type writeArgs struct {
	IfMatch      string `json:"ifMatch" about:"stateHash of an earlier read: refuse if the target has changed since"`
	RequestID    string `json:"requestId" about:"id of this write: the same one twice runs once"`
	ValidateOnly bool   `json:"validateOnly" about:"check everything, write nothing"`
	Expected     string `json:"expectedHash" about:"hash that validateOnly returned (strict mode)"`
}

// Meta has the values of those arguments in one call.
type Meta struct {
	Verbose      bool
	IfMatch      string
	RequestID    string
	ValidateOnly bool
	Expected     string // the argument expectedHash
}

// member returns a pointer to the field of an argument; nil if there is none.
func (m *Meta) member(name string) any {
	switch name {
	case "verbose":
		return &m.Verbose
	case "ifMatch":
		return &m.IfMatch
	case "requestId":
		return &m.RequestID
	case "validateOnly":
		return &m.ValidateOnly
	case "expectedHash":
		return &m.Expected
	}
	return nil
}
