package pins

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"collie/internal/mcp"
)

// This file has the pin of one tool, and decides what a newly seen definition changes.

// fields are the fields of a definition that are pinned, in the order in which they are stored and reported.
var fields = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}

// record is the pin of one tool. It is not changed once it is in a state.
type record struct {
	hash string
	// digest is the digest of the exact bytes that had the hash. A definition with the same bytes need not be brought
	// into canonical form again at each start.
	digest    string
	firstSeen time.Time
	approved  time.Time // zero if nobody approved it
	// definition has the six fields. It is nil if the file holds it (stored), or if it is lost.
	definition json.RawMessage
	stored     bool
	size       int // bytes of the definition in the file, if stored
	pending    *sighting
}

// sighting is a definition that was seen, or that is pending.
type sighting struct {
	hash, digest string
	at           time.Time
	changed      []string // fields that differ from the pinned ones; set if pending
	definition   json.RawMessage
}

// observe returns the record after a definition was seen: r itself if that changes nothing. was returns the pinned
// definition of r.
func (r *record) observe(seen sighting, was func(*record) json.RawMessage) *record {
	switch {
	case r == nil:
		return &record{hash: seen.hash, digest: seen.digest, firstSeen: seen.at, definition: seen.definition}
	case r.hash == seen.hash:
		known := r.definition != nil || r.stored
		if r.pending == nil && (known || seen.definition == nil) {
			return r
		}
		next := *r
		next.pending = nil
		if next.definition == nil { // unless another process has pinned something else meanwhile
			next.definition = seen.definition
		}
		return &next
	case r.pending != nil && r.pending.hash == seen.hash:
		return r
	}
	next := *r
	seen.changed = changedFields(was(r), seen.definition)
	next.pending = &seen
	return &next
}

// merge adds what ours saw last to theirs, the record that another process may have changed. Their pin stays.
func merge(theirs, ours *record, was func(*record) json.RawMessage) *record {
	switch {
	case theirs == nil:
		return ours
	case ours.pending != nil:
		return theirs.observe(*ours.pending, was)
	}
	return theirs.observe(sighting{hash: ours.hash, digest: ours.digest, at: ours.firstSeen, definition: ours.definition}, was)
}

// approve returns r with the agreed definition as its pin. If another definition is pending, it stays pending.
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
		still.changed = changedFields(next.definition, still.definition)
		next.pending = &still
	}
	return next
}

// pinnedFields returns the six fields of a definition as the server wrote them, without white space between tokens.
// Missing fields are left out.
func pinnedFields(def json.RawMessage) json.RawMessage {
	var members []mcp.Field
	for _, key := range fields {
		if value := mcp.Get(def, key); value != nil {
			members = append(members, mcp.Field{Key: key, Value: value})
		}
	}
	return compactJSON(mcp.Edit(nil, members...))
}

// compactJSON returns raw without white space between tokens, or raw itself if it is not valid JSON.
func compactJSON(raw json.RawMessage) json.RawMessage {
	v := jsontext.Value(bytes.Clone(raw))
	if v.Compact(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return raw
	}
	return json.RawMessage(v)
}

// changedFields returns the fields in which two definitions differ in meaning; none if one of them is lost.
func changedFields(before, after json.RawMessage) []string {
	if before == nil || after == nil {
		return nil
	}
	var out []string
	for _, key := range fields {
		if !sameValue(mcp.Get(before, key), mcp.Get(after, key)) {
			out = append(out, key)
		}
	}
	return out
}

// sameValue reports whether two values mean the same; nil stands for a missing field.
func sameValue(a, b json.RawMessage) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	if bytes.Equal(a, b) {
		return true
	}
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}
