package kerneltest

import (
	"regexp"
	"strings"
	"time"
)

// dailyNoteFamily answers the endpoints about the note of the day.
func dailyNoteFamily(k *Kernel) {
	k.handle("/api/filetree/createDailyNote", createDailyNote)
	k.handle("/api/block/appendDailyNoteBlock", func(k *Kernel, req request) reply { return k.addToDailyNote(req, true) })
	k.handle("/api/block/prependDailyNoteBlock", func(k *Kernel, req request) reply { return k.addToDailyNote(req, false) })
}

func createDailyNote(k *Kernel, req request) reply {
	d, rep := k.dailyNote(req.str("notebook"))
	if d == nil {
		return rep
	}
	return ok(map[string]any{"id": d.id()})
}

func (k *Kernel) addToDailyNote(req request, last bool) reply {
	notebook, data, dataType := req.str("notebook"), req.str("data"), req.str("dataType")
	d, rep := k.dailyNote(notebook)
	if d == nil {
		return fail(-1, "create daily note failed: "+rep.msg)
	}
	return transacted(k.place(dataType, data, d.root, last))
}

// dailyNote finds or creates today's note of a notebook; without one, the reply says why.
func (k *Kernel) dailyNote(notebook string) (*document, reply) {
	box := k.openNotebook(notebook)
	if box == nil {
		return nil, fail(1, "notebook not found")
	}
	if box.conf.DailyNoteSavePath == "" {
		return nil, fail(-1, "Please specify the daily note save path in the Notebook Settings")
	}
	now := time.Now()
	hpath, msg := renderPath(box.conf.DailyNoteSavePath, now)
	if msg != "" {
		return nil, fail(-1, msg)
	}
	mark := "custom-dailynote-" + now.Format("20060102")
	d := (*document)(nil)
	if found := k.documentsByHPath(notebook, hpath); len(found) > 0 {
		d = found[0]
	} else {
		body := ""
		if f := k.files["/data/templates"+box.conf.DailyNoteTemplatePath]; f != nil {
			body, _ = renderActions(string(f.data), now)
		}
		if d, msg = k.createDocument(box, hpath, body, ""); msg != "" {
			return nil, fail(-1, msg)
		}
	}
	d.root.attrs[mark] = now.Format("20060102")
	return d, reply{}
}

var (
	pathAction = regexp.MustCompile(`\{\{\s*(.*?)\s*\}\}`)
	bodyAction = regexp.MustCompile(`\.action\{\s*(.*?)\s*\}`)
	dateAction = regexp.MustCompile(`^now \| date "([^"]*)"$`)
)

// renderPath fills in {{now | date "..."}}, the only action save paths are recorded with. Any other name is refused as
// the template engine refuses an unknown function.
func renderPath(text string, now time.Time) (path, msg string) {
	return renderDates(pathAction, text, now)
}

// renderActions does the same for .action{...} in templates.
func renderActions(text string, now time.Time) (body, msg string) {
	return renderDates(bodyAction, text, now)
}

func renderDates(action *regexp.Regexp, text string, now time.Time) (rendered, msg string) {
	rendered = action.ReplaceAllStringFunc(text, func(found string) string {
		inner := action.FindStringSubmatch(found)[1]
		layout := dateAction.FindStringSubmatch(inner)
		if layout == nil {
			name, _, _ := strings.Cut(inner, " ")
			msg = `Parse template failed: template: :1: function "` + name + `" not defined`
			return found
		}
		return now.Format(layout[1])
	})
	return rendered, msg
}
