package pins

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"collie/internal/mcp"
)

// fields are what of a definition is pinned, in the order they are kept and told.
var fields = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}

// record is the pin of one tool. Records are not changed once they are in a state.
type record struct {
	hash string
	// digest is that of the very bytes which had the hash, so that a definition that is seen
	// again at each start need not be brought into canonical form each time.
	digest    string
	firstSeen time.Time
	approved  time.Time // zero if nobody did
	// definition holds the six fields; nil if stored says that the file has it, or if it is
	// not known any more.
	definition json.RawMessage
	stored     bool
	pending    *sighting
}

// sighting is a definition as it was seen, or is pending.
type sighting struct {
	hash, digest string
	at           time.Time
	changed      []string // fields that differ from the pinned ones; pending only
	definition   json.RawMessage
}

// observe returns what is known after seen: r itself if that is nothing new. was returns the
// pinned definition of r.
func (r *record) observe(seen sighting, was func(*record) json.RawMessage) *record {
	switch {
	case r == nil:
		return &record{hash: seen.hash, digest: seen.digest, firstSeen: seen.at, definition: seen.definition}
	case r.hash == seen.hash:
		known := r.definition != nil || r.stored
		if r.pending == nil && known {
			return r
		}
		next := *r
		next.pending = nil
		if next.definition == nil { // another process may have pinned something else meanwhile
			next.definition = seen.definition
		}
		return &next
	case r.pending != nil && r.pending.hash == seen.hash:
		return r
	}
	next := *r
	seen.changed = differences(was(r), seen.definition)
	next.pending = &seen
	return &next
}

// merge returns theirs, which another process may have changed, with what ours has seen
// last. Their pin stays.
func merge(theirs, ours *record, was func(*record) json.RawMessage) *record {
	switch {
	case theirs == nil:
		return ours
	case ours.pending != nil:
		return theirs.observe(*ours.pending, was)
	}
	return theirs.observe(sighting{hash: ours.hash, digest: ours.digest, at: ours.firstSeen, definition: ours.definition}, was)
}

// approve returns r with what a person agreed to as its pin. Something else that is pending
// stays so.
func (r *record) approve(agreed sighting, now time.Time) *record {
	next := &record{
		hash: agreed.hash, digest: agreed.digest, firstSeen: agreed.at, approved: now, definition: agreed.definition,
	}
	if r == nil {
		return next
	}
	next.firstSeen = r.firstSeen
	if p := r.pending; p != nil && p.hash != agreed.hash {
		still := *p
		still.changed = differences(next.definition, still.definition)
		next.pending = &still
	}
	return next
}

// pick returns the six fields of a definition as the server wrote them, without white space
// between them. Those that it does not have are left out.
func pick(def json.RawMessage) json.RawMessage {
	var members []mcp.Field
	for _, key := range fields {
		if value := mcp.Get(def, key); value != nil {
			members = append(members, mcp.Field{Key: key, Value: value})
		}
	}
	return compact(mcp.Edit(nil, members...))
}

// compact returns raw without white space between tokens, or as it is if it is not JSON that
// can be written again.
func compact(raw json.RawMessage) json.RawMessage {
	v := jsontext.Value(bytes.Clone(raw))
	if v.Compact(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return raw
	}
	return json.RawMessage(v)
}

// differences names the fields in which two definitions differ in meaning; none if one of
// them is not known.
func differences(was, now json.RawMessage) []string {
	if was == nil || now == nil {
		return nil
	}
	var out []string
	for _, key := range fields {
		if !same(mcp.Get(was, key), mcp.Get(now, key)) {
			out = append(out, key)
		}
	}
	return out
}

// same reports whether two values mean the same; nil is a field that is not there.
func same(a, b json.RawMessage) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	if bytes.Equal(a, b) {
		return true
	}
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}
