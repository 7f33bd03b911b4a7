package conversation

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"collie/internal/chat/transcript"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// This file imports conversations of other programs.

// importTranscripts imports conversations that another program has exported as raw, and lists what it leaves out. file is
// the name for errors.
func (p commands) importTranscripts(ctx context.Context, a *API, file string, raw []byte) error {
	program, all, notes, err := transcript.Read(raw)
	if err != nil {
		return root.Usage("%s: neither what collie sessions export wrote nor an export of ChatGPT, LibreChat or Open WebUI", file)
	}
	var rows [][]string
	sessions := []json.RawMessage{}
	for _, c := range all {
		var made json.RawMessage
		if err := a.Do(ctx, http.MethodPost, "/sessions/import", c.Document, &made); err != nil {
			p.Note("%s", locale.Sprintf("%d of %d conversations were taken over", len(rows), len(all)))
			return err
		}
		sessions = append(sessions, made)
		rows = append(rows, []string{gjson.GetBytes(made, "id").String(), strconv.Itoa(c.Messages), output.FirstNonEmpty(c.Title, "-")})
		for _, left := range c.Left {
			notes = append(notes, output.FirstNonEmpty(c.Title, strconv.Itoa(len(rows)))+": "+left)
		}
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"program": program, "sessions": sessions, "left": slices.Concat([]string{}, notes)})
	}
	for _, n := range notes {
		p.Note("%s", locale.Sprintf("not taken over: %s", output.OneLine(n)))
	}
	return p.Table([]string{"ID", "MESSAGES", "TITLE"}, rows)
}
