package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"collie/internal/app"
)

// maxProblemRows is how many problems are shown to people; programs get all.
const maxProblemRows = 100

// done reports whether anything was done.
func done(r *app.FolderReport) bool { return r.Notebooks+r.Documents+r.Files > 0 }

// reportText counts what was brought in or out.
func reportText(r *app.FolderReport) string {
	text := fmt.Sprintf("%s, %s, %s, %s", count(r.Notebooks, "notebook"), count(r.Documents, "document"), count(r.Blocks, "block"), count(r.Files, "file"))
	counts := stateCounts(r)
	if counts[string(app.FileAdded)] == len(r.States) { // nothing of it was there before
		return text
	}
	if r.Documents == 0 && r.Files == 0 {
		text = "nothing to write"
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	return text + " (" + strings.Join(parts, ", ") + ")"
}

// stateCounts counts the files of an import by what became of them.
func stateCounts(r *app.FolderReport) map[string]int {
	counts := map[string]int{}
	for _, f := range r.States {
		counts[string(f.State)]++
	}
	return counts
}

// folderDetail is what the record says of an import or export.
func folderDetail(v *app.Vault, place string, r *app.FolderReport) map[string]any {
	return map[string]any{
		"file": v.Path(), "place": place, "notebooks": r.Notebooks, "documents": r.Documents, "files": r.Files, "problems": len(r.Problems),
	}
}

// showFolder tells what came of an import or export. The error is that of a part.
func (p *program) showFolder(what, file, place string, r *app.FolderReport) error {
	var err error
	if p.json {
		out := map[string]any{
			"file": file, "place": place, "notebooks": r.Notebooks, "documents": r.Documents, "blocks": r.Blocks, "files": r.Files,
			"problems": append([]app.FolderProblem{}, r.Problems...),
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
		err = p.printJSON(out)
	} else {
		err = p.showFolderText(what, r)
	}
	if err == nil && len(r.Problems) > 0 {
		err = exit(exitPartial)
	}
	return err
}

func (p *program) showFolderText(what string, r *app.FolderReport) error {
	problems := r.ByFolder()
	shown := problems[:min(len(problems), maxProblemRows)]
	rows := make([][]string, len(shown))
	for i, f := range shown {
		at := f.Path
		if f.Line > 0 {
			at += ":" + strconv.Itoa(f.Line)
		}
		rows[i] = []string{at, cut(f.What), f.Why}
	}
	if len(rows) > 0 {
		if err := p.table([]string{"WHERE", "WHAT", "WHY"}, rows); err != nil {
			return err
		}
		if more := len(problems) - len(shown); more > 0 {
			p.note("and %d more; --json lists all", more)
		}
	}
	for _, c := range r.Changes {
		p.note("written otherwise, in %s: %s", count(c.Lines, "line"), c.Why)
	}
	mark, rest := "✓", ""
	if len(r.Problems) > 0 {
		mark, rest = "!", "; not as it was: "+count(len(r.Problems), "thing")
	}
	_, err := fmt.Fprintf(p.out, "%s %s: %s%s\n", p.painter(p.out).mark(mark), what, reportText(r), rest)
	return err
}
