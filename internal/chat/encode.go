package chat

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"collie/internal/llm"
	"collie/internal/store"
)

// This file converts between values of Go and the texts and numbers that the database holds.

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// now returns the time as Unix milliseconds, the form of all times in the database.
func now() int64 { return time.Now().UnixMilli() }

func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// encode returns v as JSON. It panics if v has no JSON form, which cannot happen for types of this package.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("chat: encode %T: %v", v, err))
	}
	return data
}

// decodePart parses a stored part of a message.
func decodePart(data string) (part llm.Part, err error) {
	if err = json.Unmarshal([]byte(data), &part); err != nil {
		err = fmt.Errorf("a part of a message does not parse: %w", err)
	}
	return part, err
}

// readCall reads a call from five columns of r, the first of which has the number i.
func readCall(r *store.Row, i int) Call {
	return Call{ID: r.ColumnText(i), Name: r.ColumnText(i + 1), State: CallState(r.ColumnText(i + 2)), Step: r.ColumnInt(i + 3), Took: r.ColumnInt64(i + 4)}
}

// failOn makes the transaction fail if err is not nil.
func failOn(tx *store.Tx, err error) {
	if err != nil {
		_ = tx.Fail(err)
	}
}

// decodeFailure parses a stored failure; an empty text is nil.
func decodeFailure(text string) *Failure {
	if text == "" {
		return nil
	}
	f := &Failure{}
	if err := json.Unmarshal([]byte(text), f); err != nil {
		f.Message = text
	}
	return f
}

func encodeFailure(f *Failure) string {
	if f == nil {
		return ""
	}
	return string(encode(f))
}

func encodeUsage(u Usage) string {
	if u == (Usage{}) {
		return ""
	}
	return string(encode(u))
}
