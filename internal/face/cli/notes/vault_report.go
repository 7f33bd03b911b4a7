package notes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	vaultadmin "collie/internal/vault/admin"
)

// This file prints what an import or export of notes did.

// maxProblemRows is the number of problems shown to people; --json shows all.
const maxProblemRows = 100

// changedAnything reports whether any file was imported or exported.
func changedAnything(r *vaultadmin.FolderReport) bool { return r.Notebooks+r.Documents+r.Files > 0 }

// reportText describes how much was imported or exported.
func reportText(r *vaultadmin.FolderReport) string {
	text := fmt.Sprintf("%s, %s, %s, %s", locale.Count(r.Notebooks, "notebook"), locale.Count(r.Documents, "document"), locale.Count(r.Blocks, "block"), locale.Count(r.Files, "file"))
	counts := stateCounts(r)
	if counts[string(vaultadmin.FileAdded)] == len(r.States) { // everything is new
		return text
	}
	if r.Documents == 0 && r.Files == 0 {
		text = locale.T("nothing to write")
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	return text + " (" + strings.Join(parts, ", ") + ")"
}

// stateCounts counts the files of an import by outcome.
func stateCounts(r *vaultadmin.FolderReport) map[string]int {
	counts := map[string]int{}
	for _, f := range r.States {
		counts[string(f.State)]++
	}
	return counts
}

// folderDetail returns the detail of the audit record for an import or export.
func folderDetail(v *vaultadmin.Vault, place string, r *vaultadmin.FolderReport) map[string]any {
	return map[string]any{
		"file": v.Path(), "place": place, "notebooks": r.Notebooks, "documents": r.Documents, "files": r.Files, "problems": len(r.Problems),
	}
}

// showFolder prints the outcome of an import or export. It returns an error if only a part succeeded.
func (p commands) showFolder(headline, file, place string, r *vaultadmin.FolderReport) error {
	var err error
	if p.JSON {
		out := map[string]any{
			"file": file, "place": place, "notebooks": r.Notebooks, "documents": r.Documents, "blocks": r.Blocks, "files": r.Files,
			"problems": append([]vaultadmin.FolderProblem{}, r.Problems...),
		}
		if r.Changes != nil {
			out["changes"] = r.Changes
		}
		if r.States != nil {
			out["states"], out["counts"] = r.States, stateCounts(r)
		}
		if r.From != "" {
			out["movedFrom"] = r.From
		}
		err = p.PrintJSON(out)
	} else {
		err = p.showFolderText(headline, r)
	}
	if err == nil && len(r.Problems) > 0 {
		err = root.Exit(root.ExitPartial)
	}
	return err
}

// showFolderText prints the problems of an import or export, what was written in another form, and a summary.
func (p commands) showFolderText(headline string, r *vaultadmin.FolderReport) error {
	problems := r.ByFolder()
	visible := problems[:min(len(problems), maxProblemRows)]
	rows := make([][]string, len(visible))
	for i, f := range visible {
		at := f.Path
		if f.Line > 0 {
			at += ":" + strconv.Itoa(f.Line)
		}
		rows[i] = []string{at, output.Cut(f.What), locale.Sentence(f.Why)}
	}
	if len(rows) > 0 {
		if err := p.Table([]string{"WHERE", "WHAT", "WHY"}, rows); err != nil {
			return err
		}
		if more := len(problems) - len(visible); more > 0 {
			p.Note("and %d more; --json lists all", more)
		}
	}
	for _, c := range r.Changes {
		p.Note("written in another form, in %s: %s", locale.Count(c.Lines, "line"), locale.Sentence(c.Why))
	}
	mark, rest := "✓", ""
	if len(r.Problems) > 0 {
		mark, rest = "!", locale.Sprintf("; not as it was: %s", locale.Count(len(r.Problems), "thing"))
	}
	_, err := fmt.Fprintf(p.Out, "%s %s: %s%s\n", p.Painter(p.Out).Mark(mark), headline, reportText(r), rest)
	return err
}
