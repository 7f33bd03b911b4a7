package av

import (
	"strings"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/template"
)

// maxTemplates is how long all templates in one call may run together. After that, cells show the source of their
// template.
const maxTemplates = 2 * time.Second

// execute returns the result of a column's template for a row, "" if the template has an error.
func (s *sheet) execute(c *column, row string) string {
	source := c.Key.str("template")
	if !strings.Contains(source, template.ActionLeft) || s.dbs.templates > maxTemplates {
		return source
	}
	start := time.Now()
	text, err := s.runTemplate(source, row)
	s.dbs.templates += time.Since(start)
	if err != nil {
		return ""
	}
	return text
}

// runTemplate runs a template on a row.
func (s *sheet) runTemplate(source, row string) (string, error) {
	return template.Execute(source, template.Options{
		Left: template.ActionLeft, Right: template.ActionRight, Values: s.templateValues(row),
	})
}

// templateValues returns the values for the template of a row: its cells by column name, and the row's id, title,
// created and updated.
func (s *sheet) templateValues(row string) map[string]any {
	values := map[string]any{
		"id": row, "title": s.cell(s.db.primary(), row).text(),
		"created": shownMoment(s.created(row)).Formatted, "updated": shownMoment(s.updated(row)).Formatted,
	}
	if block := s.boundBlock(row); block != "" {
		values["id"] = block
	}
	for _, c := range s.db.columns {
		if c.kind() != siyuanapi.ColumnTemplate {
			values[c.name()] = s.cell(c, row).plain()
		}
	}
	return values
}

// plain returns a value for calculations in templates: a number, a boolean, or its text.
func (v *value) plain() any {
	switch {
	case v.Type == siyuanapi.ColumnCheckbox:
		return v.Checkbox != nil && v.Checkbox.Checked
	case v.Type == siyuanapi.ColumnNumber && !v.isEmpty():
		if n := v.Number.Content; n == float64(int(n)) {
			return int(n)
		}
		return v.Number.Content
	case v.Type == siyuanapi.ColumnRollup && v.Rollup.single() != nil:
		return v.Rollup.single().plain()
	}
	return v.text()
}
