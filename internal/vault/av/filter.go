package av

import (
	"encoding/json"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
)

// This file applies the filters of a view to rows.

// noFilter returns the filter of a view that shows all rows: an empty group.
func noFilter() object {
	return object{"column": "", "operator": "", "value": nil, "combination": "and"}
}

// filters returns the filter of a view as one group, as the API does, without conditions on columns that no longer
// exist.
func (db *database) filters(v view) []any {
	root, conditions := noFilter(), v.objects("filters")
	if len(conditions) == 1 && isGroup(conditions[0]) {
		if conditions[0].str("combination") == "or" {
			root["combination"] = "or"
		}
		conditions = conditions[0].objects("filters")
	}
	if pruned := db.pruneFilters(conditions); len(pruned) > 0 {
		root["filters"] = pruned
	}
	return []any{root}
}

// pruneFilters returns conditions without those on columns that do not exist, and without groups that are then empty.
func (db *database) pruneFilters(conditions []object) []any {
	var pruned []any
	for _, condition := range conditions {
		if isGroup(condition) {
			if inner := db.pruneFilters(condition.objects("filters")); len(inner) > 0 {
				pruned = append(pruned, condition.with(object{"filters": inner}))
			}
		} else if db.column(condition.str("column")) != nil {
			pruned = append(pruned, condition.with(object{"value": completeOperand(condition["value"])}))
		}
	}
	return pruned
}

// isGroup reports whether an entry of a filter is a group of conditions, not a single one.
func isGroup(condition object) bool {
	return condition.str("column") == "" || len(condition.objects("filters")) > 0
}

// operand returns the value that a condition compares with; nil if there is none or it cannot be parsed. kind is its
// type unless it has its own.
func operand(condition object, kind string) *value {
	stored := condition.at("value")
	if stored == nil {
		return nil
	}
	var v value
	if json.Unmarshal(api.MustJSON(stored), &v) != nil {
		return nil
	}
	if v.Type == "" {
		v.Type = kind
	}
	return &v
}

// completeOperand returns the operand of a condition with all members that its type has.
func completeOperand(stored any) any {
	v := operand(object{"value": stored}, "")
	if v == nil {
		return stored
	}
	var out object
	if json.Unmarshal(v.encode(), &out) != nil {
		return stored
	}
	return map[string]any(out)
}

// passesFilter reports whether a row passes a filter. A condition that is incomplete or unknown hides nothing.
func (s *sheet) passesFilter(condition object, row string) bool {
	if !isGroup(condition) {
		return s.meetsCondition(condition, row)
	}
	inner := condition.objects("filters")
	if len(inner) == 0 {
		return true
	}
	decides := condition.str("combination") == "or"
	for _, one := range inner {
		if s.passesFilter(one, row) == decides {
			return decides
		}
	}
	return !decides
}

// meetsCondition reports whether a row meets one condition.
func (s *sheet) meetsCondition(condition object, row string) bool {
	c := s.db.column(condition.str("column"))
	if c == nil || condition["relativeDate"] != nil {
		return true
	}
	v, want, operator := s.cell(c, row), operand(condition, c.kind()), condition.str("operator")
	if v.Type == siyuanapi.ColumnRollup {
		return s.rollupMeets(v, want, operator)
	}
	return compareValues(v, want, operator)
}

// rollupMeets reports whether any of the values in a rollup meets a condition.
func (s *sheet) rollupMeets(v, want *value, operator string) bool {
	switch operator {
	case "Is empty":
		return v.isEmpty()
	case "Is not empty":
		return !v.isEmpty()
	}
	if want != nil && want.Rollup != nil && len(want.Rollup.Contents) > 0 && want.Rollup.Contents[0] != nil {
		want = want.Rollup.Contents[0]
	}
	if v.Rollup == nil || len(v.Rollup.Contents) == 0 {
		return want == nil || want.isBlank()
	}
	for _, one := range v.Rollup.Contents {
		if compareValues(one, want, operator) {
			return true
		}
	}
	return false
}
