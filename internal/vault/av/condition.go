package av

import (
	"strings"
	"time"

	"collie/internal/siyuanapi"
)

// This file decides whether a value meets the condition of a filter.

// compareValues reports whether a value meets a condition: operator compares it with want. Four operators need no want. For
// the others, a condition whose want is nil or blank is met by all values, as a filter that is not filled in yet.
func compareValues(v, want *value, operator string) bool {
	switch operator {
	case "Is empty":
		return v.isEmpty()
	case "Is not empty":
		return !v.isEmpty()
	case "Is true":
		return v.Checkbox != nil && v.Checkbox.Checked
	case "Is false":
		return v.Checkbox == nil || !v.Checkbox.Checked
	}
	if want == nil || want.isBlank() {
		return true
	}
	switch v.Type {
	case siyuanapi.ColumnNumber:
		return want.Number == nil || numberHolds(v, want.Number.Content, operator)
	case siyuanapi.ColumnDate, siyuanapi.ColumnCreated, siyuanapi.ColumnUpdated:
		return timeHolds(v, want, operator)
	case siyuanapi.ColumnSelect, siyuanapi.ColumnMSelect:
		return choiceHolds(v, want, operator)
	case siyuanapi.ColumnRelation:
		return textHolds(v.text(), want.relationText(), operator)
	}
	return textHolds(v.text(), want.text(), operator)
}

// isBlank reports whether an operand is empty.
func (v *value) isBlank() bool {
	return v.text() == "" && (v.Number == nil || !v.Number.NotEmpty) && (v.Date == nil || !v.Date.NotEmpty) &&
		(v.Created == nil || !v.Created.NotEmpty) && (v.Updated == nil || !v.Updated.NotEmpty) &&
		len(v.MSelect) == 0 && v.relationText() == "" && (v.Rollup == nil || len(v.Rollup.Contents) == 0)
}

// relationText returns the text that an operand on a relation compares with.
func (v *value) relationText() string {
	if v.Relation == nil {
		return ""
	}
	if len(v.Relation.Contents) > 0 {
		return join(v.Relation.Contents, (*value).text)
	}
	return strings.Join(v.Relation.BlockIDs, " ")
}

// textHolds compares texts, ignoring case. Unknown operators always hold.
func textHolds(text, want, operator string) bool {
	text, want = strings.ToLower(text), strings.ToLower(want)
	switch operator {
	case "=":
		return text == want
	case "!=":
		return text != want
	case "Contains":
		return strings.Contains(text, want)
	case "Does not contain":
		return !strings.Contains(text, want)
	case "Starts with":
		return strings.HasPrefix(text, want)
	case "Ends with":
		return strings.HasSuffix(text, want)
	}
	return true
}

// numberHolds compares the number in a cell with an operand. For an empty cell only != holds.
func numberHolds(v *value, want float64, operator string) bool {
	if v.isEmpty() {
		return operator == "!="
	}
	number := v.Number.Content
	switch operator {
	case "=":
		return number == want
	case "!=":
		return number != want
	case ">":
		return number > want
	case ">=":
		return number >= want
	case "<":
		return number < want
	case "<=":
		return number <= want
	}
	return true
}

// timeHolds compares times. An operand stands for the whole day; a date with a time of day other than midnight stands for its
// minute. The end of "Is between" is always a whole day.
func timeHolds(v, want *value, operator string) bool {
	at, ok := v.time()
	if !ok {
		return operator == "!="
	}
	from, ok := want.time()
	if !ok {
		return true
	}
	until := from.AddDate(0, 0, 1)
	if want.Date != nil && !want.Date.DateOnly && (from.Hour() > 0 || from.Minute() > 0) {
		until = from.Add(time.Minute)
	}
	inside := !at.Before(from) && at.Before(until)
	switch operator {
	case "=":
		return inside
	case "!=":
		return !inside
	case ">":
		return !at.Before(until)
	case ">=":
		return !at.Before(from)
	case "<":
		return at.Before(from)
	case "<=":
		return at.Before(until)
	case "Is between":
		end := want.end()
		return !at.Before(from) && (end.IsZero() || at.Before(end.AddDate(0, 0, 1)))
	}
	return true
}

// time returns the time in a value; false if there is none.
func (v *value) time() (time.Time, bool) {
	switch {
	case v.Date != nil && v.Date.NotEmpty:
		return time.UnixMilli(v.Date.Content), true
	case v.Created != nil && v.Created.NotEmpty:
		return time.UnixMilli(v.Created.Content), true
	case v.Updated != nil && v.Updated.NotEmpty:
		return time.UnixMilli(v.Updated.Content), true
	}
	return time.Time{}, false
}

// end returns the end of a range, the zero time if there is none.
func (v *value) end() time.Time {
	switch {
	case v.Date != nil && v.Date.NotEmpty2:
		return time.UnixMilli(v.Date.Content2)
	case v.Created != nil && v.Created.NotEmpty2:
		return time.UnixMilli(v.Created.Content2)
	case v.Updated != nil && v.Updated.NotEmpty2:
		return time.UnixMilli(v.Updated.Content2)
	}
	return time.Time{}
}

// choiceHolds compares options. Two lists are equal if they have one option in common.
func choiceHolds(v, want *value, operator string) bool {
	common := false
	for _, option := range v.MSelect {
		for _, other := range want.MSelect {
			common = common || option.Content == other.Content
		}
	}
	switch operator {
	case "=", "Contains":
		return common
	case "!=", "Does not contain":
		return !common
	}
	return true
}
