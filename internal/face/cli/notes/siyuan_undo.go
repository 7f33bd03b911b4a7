package notes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/call"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// This file has the command `collie siyuan undo`, which lists recorded writes and takes one back.

func (p commands) siyuanUndoCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "undo [REQUEST_ID]", Short: "Undo a write to your notes", Args: cobra.MaximumNArgs(1),
		Long: "Without REQUEST_ID, lists the writes of the last days. With it, shows what would be restored and\n" +
			"what has been changed since, asks, and restores it. The result of a write names its requestId.",
		Example: "  collie siyuan undo\n  collie siyuan undo 0199c3a0-7b1e-7c55-9d07-2f6a3e0c11aa",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return p.siyuanWrites(c.Context())
			}
			return p.siyuanUndo(c.Context(), args[0], yes)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().BoolVar(&yes, "yes", false, "put it back without being asked")
	p.KernelFlags(c)
	return c
}

// siyuanWrites lists the recorded writes and whether each can be undone.
func (p commands) siyuanWrites(ctx context.Context) error {
	return p.withNotes(ctx, func(_ *app.App, notes *notesadmin.Notes) error {
		all, err := notes.Writes()
		if err != nil {
			return err
		}
		_ = notes.NameWrites(ctx, all) // if the kernel does not answer, the targets are shown as they are stored
		if p.JSON {
			rows := []map[string]any{}
			for i := range all {
				rows = append(rows, writeJSON(&all[i]))
			}
			return p.PrintJSON(map[string]any{"writes": rows})
		}
		if len(all) == 0 {
			p.Note("no write is on record")
			return nil
		}
		now := time.Now()
		var rows [][]string
		for i := range all {
			w := &all[i]
			rows = append(rows, []string{w.ID, output.Ago(w.Created, now), strings.Trim(w.Tool+"."+w.Action, "."), string(w.State), undoState(w), output.Cut(strings.Join(shortTargets(w), ", "))})
		}
		if err := p.Table([]string{"REQUEST", "WHEN", "ACTION", "STATE", "UNDO", "TARGETS"}, rows); err != nil {
			return err
		}
		p.Note("what a write added is removed: a document, or blocks; that can be undone as well")
		return nil
	})
}

// shortTargets returns the first targets of a write, by name where known, and how many more there are.
func shortTargets(w *notesadmin.Write) []string {
	out := w.Targets
	if len(w.Names) > 0 {
		out = w.Names
	}
	if limit := 3; len(out) > limit {
		out = append(out[:limit:limit], locale.Sprintf("… %d more", len(out)-limit))
	}
	return out
}

func writeJSON(w *notesadmin.Write) map[string]any {
	return map[string]any{
		"requestId": w.ID, "tool": w.Tool, "action": w.Action, "state": w.State, "createdAt": w.Created,
		"targets": append([]string{}, w.Targets...), "names": append([]string{}, w.Names...), "canUndo": w.CanUndo(), "noUndo": w.NoUndo,
	}
}

// undoState returns whether a write can be undone, for a cell of the table of writes.
func undoState(w *notesadmin.Write) string {
	switch {
	case w.CanUndo():
		return locale.T("yes")
	case w.State == notesadmin.WriteUndone:
		return "done"
	case w.NoUndo != "":
		why, _, _ := strings.Cut(w.NoUndo, ", ") // only the reason; what to do about it is shown for a single write
		return locale.Sprintf("no: %s", output.Cut(why))
	}
	return locale.T("no")
}

// siyuanUndo shows what undoing a write would restore or remove, asks, and does it.
func (p commands) siyuanUndo(ctx context.Context, id string, yes bool) error {
	return p.withNotes(ctx, func(a *app.App, notes *notesadmin.Notes) error {
		w, err := notes.Write(id)
		if err != nil {
			return err
		}
		if !w.CanUndo() {
			return notes.Restore(ctx, w) // its error says why it cannot be undone
		}
		since, err := notes.ChangedSince(ctx, w)
		if err != nil {
			return err
		}
		if !p.JSON || !yes {
			fmt.Fprint(p.Err, undoText(w, since))
		}
		question := "Put it back?"
		switch {
		case w.Added != "":
			question = "Remove it?"
		case len(w.AddedBlocks) > 0 && len(w.Before) == 0:
			question = "Remove them?"
		}
		if !yes {
			if _, err := p.RequireYes(ctx, question); err != nil {
				return err
			}
		}
		err = p.revert(ctx, a, notes, w)
		if detail, ok := notesadmin.OnRecord(map[string]any{"requestId": w.ID, "tool": w.Tool, "action": w.Action, "targets": w.Targets}, err); ok {
			p.workspaceChanged(ctx, a, "siyuan undo", detail)
		}
		if err != nil {
			return err
		}
		if p.JSON {
			return p.PrintJSON(writeJSON(w))
		}
		_, err = locale.Fprintf(p.Out, "✓ %s.%s of %s is undone\n", w.Tool, w.Action, w.Created.Local().Format("2006-01-02 15:04"))
		return err
	})
}

// revert undoes a write: by its inverse call if there is one, else by restoring the text from before it.
func (p commands) revert(ctx context.Context, a *app.App, notes *notesadmin.Notes, w *notesadmin.Write) error {
	caller, err := call.NewCaller(p.Program, "siyuan", true) // the person has confirmed exactly this
	if err != nil {
		return err
	}
	inverse := notesadmin.UndoCall(w, root.Principal(), "collie siyuan undo", caller)
	if inverse == nil {
		return notes.Restore(ctx, w)
	}
	if err := a.Notes.AwaitToolConfig(ctx); err != nil {
		return err
	}
	r, err := a.Pipeline.Do(ctx, *inverse)
	caller.Done()
	switch {
	case err != nil:
		return err
	case r.IsError:
		if e := call.PayloadError(call.Payload(r.Raw).Raw); e != nil {
			return e
		}
		return &tool.Error{Op: "undo", Kind: tool.Upstream, Subject: w.ID, Message: strings.TrimSpace(call.Readable(r.Raw))}
	}
	return notes.Undone(w)
}

// undoText describes what would be restored.
func undoText(w *notesadmin.Write, since []string) string {
	var b strings.Builder
	say := func(format string, args ...any) { b.WriteString(locale.Sprintf(format, args...) + "\n") }
	say("%s.%s of %s (%s)", w.Tool, w.Action, w.Created.Local().Format("2006-01-02 15:04:05"), w.State)
	for i := range w.Before {
		v := &w.Before[i]
		kind := "block"
		if v.Document {
			kind = "document"
		}
		say("  %s %s %s", kind, v.ID, output.OneLine(v.HPath))
		for _, line := range excerpt(v.Kramdown) {
			say("    │ %s", output.Cut(line))
		}
	}
	if w.Added != "" {
		say("  the document %s %s, which it added, is removed; that can be undone as well", w.Added, output.OneLine(strings.Join(w.Names, " ")))
	}
	if len(w.AddedBlocks) > 0 {
		say("  removed: %s that it added; that can be undone as well", locale.Count(len(w.AddedBlocks), "block"))
	}
	if w.Inverse != nil {
		say("  by %s.%s %s", w.Inverse.Tool, w.Inverse.Action, output.Cut(string(w.Inverse.Args)))
	}
	if len(since) > 0 {
		say("  ! changed since, which would be lost: %s", strings.Join(since, ", "))
	}
	return b.String()
}

// excerpt returns the first lines of a text.
func excerpt(text string) []string {
	const limit = 6
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > limit {
		lines = append(lines[:limit:limit], locale.Sprintf("… %d more lines", len(lines)-limit))
	}
	return lines
}
