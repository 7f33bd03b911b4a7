package chat

import (
	"context"
	"slices"
	"strings"

	"collie/internal/llm"
	"collie/internal/store"
)

// This file reads the path from the root of a conversation to a message, as the messages that a model gets.

// path is a conversation as models get it, with the rows it comes from.
type path struct {
	messages []llm.Message
	question []llm.Part // the parts of the last row
	first    []int64    // row in which each message begins; 0 for a summary
	last     []int64    // row in which it ends
}

// add appends parts, to the last message if that has the same role and is not a summary.
func (p *path) add(row int64, role llm.Role, parts ...llm.Part) {
	if len(parts) == 0 {
		return
	}
	if i := len(p.messages) - 1; i >= 0 && p.messages[i].Role == role && p.last[i] != 0 {
		p.messages[i].Parts = append(p.messages[i].Parts, parts...)
		p.last[i] = row
		return
	}
	p.messages = append(p.messages, llm.Message{Role: role, Parts: parts})
	p.first, p.last = append(p.first, row), append(p.last, row)
}

// replaceBySummary replaces all but the last keep messages by a summary. It keeps a few more if a row would be split otherwise. It
// returns the row of the last message that the summary covers, or 0 if there is none.
func (p *path) replaceBySummary(keep int, summary string) (int64, *path) {
	i := max(len(p.messages)-max(keep, 0), 0)
	for i > 0 && i < len(p.messages) && p.first[i] == p.last[i-1] {
		i--
	}
	if i == 0 || p.last[i-1] == 0 {
		return 0, nil
	}
	left := &path{}
	left.addSummary(summary)
	for j := i; j < len(p.messages); j++ {
		left.add(p.first[j], p.messages[j].Role, p.messages[j].Parts...)
		left.last[len(left.last)-1] = p.last[j]
	}
	return p.last[i-1], left
}

// addSummary appends a summary as a message of the user.
func (p *path) addSummary(text string) {
	p.add(0, llm.RoleUser, llm.Part{Kind: llm.PartText, Code: llm.CodeSummary, Text: "Summary of the conversation so far:\n\n" + text})
}

// lineage selects the rows from a message up to the root or the newest summary. The message itself is always included.
const lineage = `WITH RECURSIVE up (n, parent, role, depth, summary) AS (
		SELECT n, parent, role, 0, NULL FROM message WHERE id = ?
		UNION ALL
		SELECT m.n, m.parent, m.role, up.depth + 1, (SELECT text FROM summary WHERE upto = m.n)
		FROM up JOIN message AS m ON m.n = up.parent WHERE up.summary IS NULL AND m.role <> 'root'
	)
	SELECT up.n, up.role, up.summary, part.data FROM up LEFT JOIN part ON part.message = up.n AND up.summary IS NULL
	ORDER BY up.depth DESC, part.idx`

// path returns the conversation up to and including the message question.
func (s *Service) path(ctx context.Context, question string) (*path, error) {
	type row struct {
		n     int64
		role  Role
		parts []llm.Part
	}
	p := &path{}
	var rows []*row
	states := map[string]CallState{}
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		var bad error
		tx.Query(func(r *store.Row) bool {
			if !r.ColumnIsNull(2) {
				p.addSummary(r.ColumnText(2))
				return true
			}
			if n := r.ColumnInt64(0); len(rows) == 0 || rows[len(rows)-1].n != n {
				rows = append(rows, &row{n: n, role: Role(r.ColumnText(1))})
			}
			if r.ColumnIsNull(3) {
				return true
			}
			part, err := decodePart(r.ColumnText(3))
			if err != nil {
				bad = err
				return false
			}
			last := rows[len(rows)-1]
			last.parts = append(last.parts, part)
			return true
		}, lineage, question)
		for _, m := range rows {
			if slices.ContainsFunc(m.parts, func(p llm.Part) bool { return p.Kind == llm.PartToolCall }) {
				tx.Query(func(r *store.Row) bool {
					states[r.ColumnText(0)] = CallState(r.ColumnText(1))
					return true
				}, "SELECT id, state FROM call WHERE message = ?", m.n)
			}
		}
		return bad
	})
	if err != nil {
		return nil, err
	}
	for _, m := range rows {
		for i := range m.parts {
			if err := s.loadFiles(&m.parts[i]); err != nil {
				return nil, err
			}
		}
		p.question = m.parts
		if m.role == RoleUser {
			p.add(m.n, llm.RoleUser, m.parts...)
		} else {
			p.addAnswer(m.n, m.parts, states)
		}
	}
	return p, nil
}

// addAnswer appends what an assistant message contains.
func (p *path) addAnswer(row int64, parts []llm.Part, states map[string]CallState) {
	for _, m := range Messages(parts, func(call string) CallState { return states[call] }) {
		p.add(row, m.Role, m.Parts...)
	}
}

// Messages converts one answer to messages for a model: what it said and called, then a message with exactly one result
// for each of these calls, in the order of the calls, and so on. Notices are left out. stateOf returns the state of a
// call that has no result.
func Messages(parts []llm.Part, stateOf func(call string) CallState) (out []llm.Message) {
	var said []llm.Part
	results := map[string]llm.Part{}
	add := func(role llm.Role, parts ...llm.Part) {
		if len(parts) > 0 {
			out = append(out, llm.Message{Role: role, Parts: parts})
		}
	}
	end := func() {
		add(llm.RoleAssistant, said...)
		var answers []llm.Part
		for _, part := range said {
			if part.Kind == llm.PartToolCall {
				result, there := results[part.Call]
				if !there {
					result = noResult(part, stateOf(part.Call))
				}
				answers = append(answers, result)
			}
		}
		add(llm.RoleTool, answers...)
		said, results = nil, map[string]llm.Part{}
	}
	for _, part := range parts {
		switch part.Kind {
		case llm.PartNotice:
		case llm.PartToolResult:
			results[part.Call] = part
		case partSteer:
			end()
			add(llm.RoleUser, llm.Part{Kind: llm.PartText, Text: part.Text})
		case llm.PartText, llm.PartReasoning, llm.PartToolCall, llm.PartFile:
			if part.Kind != llm.PartToolCall && part.Kind != llm.PartFile && part.Text == "" && len(part.Opaque) == 0 {
				continue
			}
			if len(results) > 0 {
				end()
			}
			said = append(said, part)
		}
	}
	end()
	return out
}

// noResult returns the tool result that a model gets for a call that has none.
func noResult(call llm.Part, state CallState) llm.Part {
	text := "This call was not made."
	if state == CallUnknown || state == CallExecuting {
		text = "The program ended before this call had answered. It may have happened. It was not tried again."
	}
	return llm.Part{Kind: llm.PartToolResult, Call: call.Call, Name: call.Name, Text: text, IsError: true}
}

// loadFiles reads the data of files, and converts text files to text. A file that is gone becomes a text that says so, since no
// provider takes an empty one. Opaque data without a provider is dropped.
func (s *Service) loadFiles(part *llm.Part) error {
	if part.Provider == "" {
		part.Opaque = nil
	}
	for i := range part.Files {
		if err := s.loadData(&part.Files[i]); err != nil {
			return err
		}
	}
	part.Files = slices.DeleteFunc(part.Files, func(f llm.File) bool { return f.Data == nil })
	if part.Kind != llm.PartFile || part.File == nil {
		return nil
	}
	if err := s.loadData(part.File); err != nil {
		return err
	}
	if part.File.Data == nil {
		*part = llm.Part{Kind: llm.PartText, File: part.File, Text: "File " + part.File.Name + ": it is gone."}
		return nil
	}
	if strings.HasPrefix(part.File.MIME, "text/") {
		*part = llm.Part{Kind: llm.PartText, File: part.File, Text: "File " + part.File.Name + ":\n\n" + string(part.File.Data)}
	}
	return nil
}
