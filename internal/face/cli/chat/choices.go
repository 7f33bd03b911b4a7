package chat

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/face/cli/call"
	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// This file handles the commands that choose from a list, /model, /agent and /session, and those that show or store parts
// of a conversation: /sessions, /call, /copy and /export.

// choices holds the known values for the arguments of /model, /agent and /session.
type choices map[string][]choice

// choice is a value with a description for people.
type choice struct{ value, about string }

// maxSessions bounds the conversations that are suggested.
const maxSessions = 30

// choiceKind returns the kind of choices for the line that is being typed, and the argument so far. what is empty if
// there are none.
func choiceKind(text string) (what, argument string) {
	name, argument, found := strings.Cut(text, " ")
	switch {
	case !found || strings.Contains(text, "\n"):
		return "", ""
	case name == "/model", name == "/agent", name == "/session":
		return name[1:], argument
	}
	return "", ""
}

// loadedChoices returns the choices of a kind, and whether they have been loaded.
func (k *talk) loadedChoices(what string) (list []choice, loaded bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	list, loaded = k.choices[what]
	return list, loaded
}

// loadChoices loads the choices of a kind and stores them. If they cannot be loaded, there are none.
func (k *talk) loadChoices(ctx context.Context, what string) []choice {
	list := []choice{}
	switch what {
	case "model":
		list = append(list, k.listModels(ctx)...)
	case "agent":
		var got struct {
			Agents []struct{ Name, Description string }
		}
		_ = k.api.Do(ctx, http.MethodGet, "/agents", nil, &got)
		for _, a := range got.Agents {
			list = append(list, choice{a.Name, output.OneLine(a.Description)})
		}
	case "session":
		list, _ = k.latestSessions(ctx)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.choices == nil {
		k.choices = choices{}
	}
	k.choices[what] = list
	return list
}

// listModels lists the models of all providers.
func (k *talk) listModels(ctx context.Context) (list []choice) {
	cfg, err := k.Load()
	if err != nil {
		return nil
	}
	m, err := app.OpenModelsWithoutGateway(ctx, cfg, app.Options{Env: k.Env})
	if err != nil {
		return nil
	}
	defer func() { _ = m.Close(ctx) }() // an error does not matter any more
	infos, _ := m.List(ctx, "")
	for _, i := range infos {
		about := locale.T("no tools")
		if i.Tools {
			about = ""
		}
		if i.Known {
			about = strings.TrimSpace(locale.Sprintf("%s tokens", shortCount(int64(i.Context))) + "  " + about)
		}
		list = append(list, choice{i.Provider + "/" + i.Model, about})
	}
	return list
}

// latestSessions returns the most recently changed conversations.
func (k *talk) latestSessions(ctx context.Context) (list []choice, err error) {
	var page struct {
		Sessions []struct {
			ID, Title string
			Updated   time.Time `json:"updatedAt"`
		}
	}
	if err := k.api.Do(ctx, http.MethodGet, "/sessions", nil, &page); err != nil {
		return nil, err
	}
	for _, s := range page.Sessions[:min(len(page.Sessions), maxSessions)] {
		title := cmp.Or(output.OneLine(s.Title), locale.T("(no title)"))
		list = append(list, choice{s.ID, title + "  " + s.Updated.Local().Format("2006-01-02 15:04")})
	}
	return list, nil
}

// suggestChoices returns the choices whose value or description matches an argument.
func (k *talk) suggestChoices(what, argument string) (list []suggestion) {
	all, _ := k.loadedChoices(what)
	for i, c := range all {
		if !strings.Contains(strings.ToLower(c.value+" "+c.about), strings.ToLower(strings.TrimSpace(argument))) {
			continue
		}
		s := suggestion{text: c.value + " ", about: c.about, whole: true}
		if what == "session" { // an id means nothing to people
			s.label = fmt.Sprintf("%2d  %s", i+1, c.about)
			s.about = ""
		}
		list = append(list, s)
	}
	return list
}

// choose changes a setting of the following messages, or lists the possible values.
func (k *talk) choose(ctx context.Context, what string, args []string) (outcome, error) {
	if len(args) > 1 {
		return outcome{}, root.Usage("expected one name, got %q", strings.Join(args, " "))
	}
	if len(args) == 1 {
		k.mu.Lock()
		k.overrides[what] = args[0]
		k.mu.Unlock()
		return outcome{lines: []string{what + ": " + output.OneLine(args[0])}}, nil
	}
	now := k.model()
	if what == "agent" {
		now = k.agent()
	}
	o := outcome{lines: []string{what + ": " + cmp.Or(output.OneLine(now), locale.T("as the settings or the session say"))}}
	for _, c := range k.loadChoices(ctx, what) {
		o.lines = append(o.lines, strings.TrimRight("  /"+what+" "+output.OneLine(c.value)+"  "+c.about, " "))
	}
	return o, nil
}

// model returns the model for the next message, "" if unknown.
func (k *talk) model() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	chosen, _ := k.overrides["model"].(string)
	return cmp.Or(chosen, k.answered, k.usual)
}

// agent returns the current agent, "" if there is none.
func (k *talk) agent() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	chosen, _ := k.overrides["agent"].(string)
	return cmp.Or(chosen, k.flags.agent)
}

// recordModel records the model of an answer.
func (k *talk) recordModel(provider, model string) {
	if model == "" {
		return
	}
	if provider != "" {
		model = provider + "/" + model
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answered = output.OneLine(model)
}

// listSessions lists the latest conversations with the numbers that /session takes.
func (k *talk) listSessions(ctx context.Context, _ []string) (outcome, error) {
	list, err := k.latestSessions(ctx)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{}
	for i, c := range list {
		o.lines = append(o.lines, fmt.Sprintf("%3d  %s", i+1, c.about))
	}
	if o.lines == nil {
		return outcome{}, root.Usage("nothing has been said yet")
	}
	o.lines = append(o.lines, locale.T("/session N continues one of them"))
	return o, nil
}

// switchSession switches to a conversation, given by id, number in the list, or words of its title.
func (k *talk) switchSession(ctx context.Context, args []string) (outcome, error) {
	wanted := strings.Join(args, " ")
	if wanted == "" {
		return outcome{}, root.Usage("which one? /sessions lists the latest conversations")
	}
	if err := k.errorIfAnswering(); err != nil {
		return outcome{}, err
	}
	list, err := k.latestSessions(ctx)
	if err != nil {
		return outcome{}, err
	}
	id := wanted
	if n, err := strconv.Atoi(wanted); err == nil && n >= 1 && n <= len(list) {
		id = list[n-1].value
	} else {
		var fit []choice
		for _, c := range list {
			if c.value == wanted {
				fit = []choice{c}
				break
			}
			if strings.Contains(strings.ToLower(c.about), strings.ToLower(wanted)) {
				fit = append(fit, c)
			}
		}
		switch {
		case len(fit) == 1:
			id = fit[0].value
		case len(fit) > 1:
			return outcome{}, root.Usage("%d conversations have that in their titles; /sessions lists them with numbers", len(fit))
		}
	}
	before := k.id()
	k.setID(id)
	view, err := k.view(ctx)
	if err != nil {
		k.setID(before)
		return outcome{}, err
	}
	k.setEditing("")
	return outcome{path: view.Get("path").Array(), input: k.drafts.load(id), draft: true}, nil
}

// showCall shows a call with its arguments and its result, which are cut only after many lines.
func (k *talk) showCall(ctx context.Context, args []string) (outcome, error) {
	back := 0
	if len(args) > 0 {
		var err error
		if back, err = strconv.Atoi(args[0]); err != nil || back < 0 || len(args) > 1 {
			return outcome{}, root.Usage("%s is not a number: /call is about the last call, /call 1 about the one before it", strings.Join(args, " "))
		}
	}
	view, err := k.view(ctx)
	if err != nil {
		return outcome{}, err
	}
	var calls []gjson.Result
	results := map[string]gjson.Result{}
	for _, m := range view.Get("path").Array() {
		for _, p := range m.Get("parts").Array() {
			switch p.Get("type").String() {
			case "tool_call":
				calls = append(calls, p)
			case "tool_result":
				results[p.Get("callId").String()] = p
			}
		}
	}
	if back >= len(calls) {
		return outcome{}, root.Usage("there are %d calls in this conversation", len(calls))
	}
	c := calls[len(calls)-1-back]
	return outcome{lines: callLines(c, results[c.Get("callId").String()])}, nil
}

// copyAnswer copies the text of the last answer.
func (k *talk) copyAnswer(ctx context.Context, _ []string) (outcome, error) {
	view, err := k.view(ctx)
	if err != nil {
		return outcome{}, err
	}
	answers := view.Get(`path.#(role=="assistant")#`).Array()
	if len(answers) == 0 || textOf(answers[len(answers)-1]) == "" {
		return outcome{}, root.Usage("nothing has been answered yet")
	}
	return outcome{copied: output.Harmless(textOf(answers[len(answers)-1]))}, nil
}

// export writes the session to a new file.
func (k *talk) export(ctx context.Context, args []string) (outcome, error) {
	formats := map[string]string{".md": "markdown", ".markdown": "markdown", ".html": "html", ".json": "json"}
	name := strings.Join(args, " ")
	format := formats[strings.ToLower(filepath.Ext(name))]
	switch {
	case k.id() == "":
		return outcome{}, root.Usage("nothing has been said yet")
	case format == "":
		return outcome{}, root.Usage("expected a file whose name ends in .md, .html or .json: /export tea.md")
	}
	data, err := k.api.Send(ctx, http.MethodGet, "/sessions/"+url.PathEscape(k.id())+"/export?format="+format, nil)
	if err != nil {
		return outcome{}, err
	}
	path := k.path(name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if os.IsExist(err) {
			return outcome{}, root.Usage("%s already exists; choose another name", name)
		}
		return outcome{}, err
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return outcome{}, err
	}
	if err := f.Close(); err != nil {
		return outcome{}, err
	}
	return outcome{lines: []string{locale.Sprintf("written to %s", output.OneLine(path))}}, nil
}

// shortCount formats a number of tokens, such as 12k.
func shortCount(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 100_000:
		return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1000, 'f', 1, 64), ".0") + "k"
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64), ".0") + "M"
}

// maxCallLines bounds the lines that /call shows.
const maxCallLines = 400

// callLines formats a call with its result. If the call has none, result.Exists() is false.
func callLines(c, result gjson.Result) []string {
	title, args := conversation.CallTitle(c.Get("name").String(), c.Get("args").String())
	lines := []string{title}
	if long := call.ArgumentLines(c.Get("args").String(), maxCallLines); long != nil {
		lines = append(lines, long...)
	} else {
		lines = append(lines, "    "+args)
	}
	if !result.Exists() {
		return append(lines, locale.T("there is no result"))
	}
	text := strings.Split(strings.TrimRight(output.Harmless(result.Get("text").String()), "\n"), "\n")
	for i, l := range text {
		if i == maxCallLines {
			return append(lines, "  "+locale.Sprintf("… and %d lines more", len(text)-i))
		}
		lines = append(lines, "  "+l)
	}
	return lines
}
