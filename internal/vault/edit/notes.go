package edit

import (
	"errors"

	"collie/internal/vault/template"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// workspaceNotes is the [template.Notes] of a transaction: it gives templates access to the blocks in open notebooks.
// Their SQL statements are checked like those of users.
type workspaceNotes struct{ tx *workspace.Tx }

// Select runs a query and returns its rows by the names of columns.
func (n workspaceNotes) Select(statement string) ([]map[string]any, error) {
	result, err := n.tx.Select(statement, 0)
	if wrong, ok := errors.AsType[*workspace.StatementError](err); ok {
		return nil, errors.New(wrong.Error())
	}
	if err != nil {
		return nil, err
	}
	rows := make([]map[string]any, len(result.Rows))
	for i, values := range result.Rows {
		rows[i] = make(map[string]any, len(values))
		for c, name := range result.Columns {
			rows[i][name] = values[c]
		}
	}
	return rows, nil
}

func (n workspaceNotes) Block(id string) map[string]any {
	if !tree.ValidID(id) {
		return nil
	}
	rows, err := n.Select("SELECT * FROM blocks WHERE id = '" + id + "'")
	if err != nil || len(rows) == 0 {
		return nil
	}
	return rows[0]
}

func (n workspaceNotes) HPath(id string) string {
	if b := n.tx.Block(id); b != nil {
		return b.Doc.HPath()
	}
	return ""
}

// Stat returns the counts of a block, nil if there is none.
func (n workspaceNotes) Stat(id string) map[string]any {
	b := n.tx.Block(id)
	if b == nil {
		return nil
	}
	var s Stat
	s.Add(b)
	s.BlockCount = 1
	if b.Kind == tree.Doc {
		s.BlockCount = 0
		b.Walk(func(c *tree.Block) {
			if c != b {
				s.BlockCount++
			}
		})
	}
	return map[string]any{
		"RuneCount": s.RuneCount, "WordCount": s.WordCount, "LinkCount": s.LinkCount, "ImageCount": s.ImageCount, "RefCount": s.RefCount,
		"BlockCount": s.BlockCount,
	}
}

// RenderIn executes a template that may read notes.
func RenderIn(tx *workspace.Tx, text string, o template.Options) (string, error) {
	o.Notes = workspaceNotes{tx}
	return template.Execute(text, o)
}
