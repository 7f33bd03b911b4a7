package document_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/vault/workspace"
)

// TestDailyNote checks that the note of a day is created once, at the path that the notebook configures, and gets blocks.
func TestDailyNote(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the fake clock keeps the day from ending
		v := newVault(t)
		box := v.createNotebook("Journal 日记")
		day := time.Now()
		id := v.Ask("filetree/createDailyNote", object{"notebook": box}).Get("id").Str
		if again := v.Ask("filetree/createDailyNote", object{"notebook": box}).Get("id").Str; again != id {
			t.Errorf("a second note %s beside %s", again, id)
		}
		want := "/daily note/" + day.Format("2006/01") + "/" + day.Format("2006-01-02")
		if got := v.Ask("filetree/getHPathByID", object{"id": id}).Str; got != want {
			t.Errorf("it lies at %q, want %q", got, want)
		}
		v.Ask("block/appendDailyNoteBlock", object{"notebook": box, "dataType": "markdown", "data": "- last"})
		v.Ask("block/prependDailyNoteBlock", object{"notebook": box, "dataType": "markdown", "data": "first 一"})
		if got := v.Text(id); !strings.HasPrefix(got, "first 一") || !strings.HasSuffix(got, "- last") {
			t.Errorf("it says %q", got)
		}
	})
}

func TestDailyNoteFromTemplate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the fake clock keeps the day from ending
		v := newVault(t)
		box := v.createNotebook("J")
		v.Update(func(tx *workspace.Tx) {
			tx.WriteFile("/data/templates/rec/dn.md", []byte("## Plan for .action{now | date \"2006\"}: .action{.title}\n\n- [ ] first 首要"), time.Time{})
			tx.WriteFile("/data/secret.md", []byte("secret"), time.Time{})
		})
		conf := func(path, template string) {
			t.Helper()
			v.Ask("notebook/setNotebookConf", object{"notebook": box, "conf": object{"dailyNoteSavePath": path, "dailyNoteTemplatePath": template}})
		}
		conf(`/日记/{{now | date "2006-01-02"}}`, "/rec/dn.md")
		id := v.Ask("filetree/createDailyNote", object{"notebook": box}).Get("id").Str
		day := time.Now()
		if got, want := v.Text(id), "## Plan for "+day.Format("2006: 2006-01-02")+"\n\n- [ ] first 首要"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}

		conf(`/other`, "/../secret.md")
		if got := v.Text(v.Ask("filetree/createDailyNote", object{"notebook": box}).Get("id").Str); got != "" {
			t.Errorf("a template from outside the templates: %q", got)
		}
		for path, part := range map[string]string{
			`/{{ env "HOME" }}`:                   `function "env" not defined`,
			`/{{ range 1000000000 }}{{ end }}`:    "Parse template failed",
			`/a/b/c/d/e/f/g/{{ now | date "2" }}`: "7 levels",
			"":                                    "specify the daily note save path",
		} {
			conf(path, "")
			v.wantRefused("filetree/createDailyNote", object{"notebook": box}, part)
		}
	})
}
