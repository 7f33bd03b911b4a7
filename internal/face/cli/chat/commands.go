package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// This file handles the commands of the chat itself, such as /new and /edit.

// command is a command that the chat itself handles, such as /model. Other lines that begin with / go to the agent host,
// which runs them as actions of tools.
type command struct {
	name, args, about string
	run               func(k *talk, ctx context.Context, args []string) (outcome, error)
}

// outcome is the result of a command.
type outcome struct {
	lines []string // to show to the person
	// input is text to edit: a message to send again or, if draft is set, an unfinished one.
	input string
	draft bool
	// send is a message to send.
	send *message
	// path holds messages to show.
	path []gjson.Result
	// copied is text for the clipboard.
	copied string
}

// commands returns the commands of the chat, sorted by name.
func commands() []command {
	return []command{
		{"/again", "", locale.T("have the last message answered once more"), (*talk).again},
		{"/agent", "[NAME]", locale.T("answer as this agent, or show which one"), func(k *talk, ctx context.Context, args []string) (outcome, error) {
			return k.choose(ctx, "agent", args)
		}},
		{"/branch", "POINT N", locale.T("go to another wording or answer"), (*talk).branch},
		{"/branches", "", locale.T("list the points with several wordings or answers"), (*talk).branches},
		{"/call", "[N]", locale.T("show the last call of a tool in full, or the one N before it"), (*talk).showCall},
		{"/copy", "", locale.T("copy the last answer, as Markdown"), (*talk).copyAnswer},
		{"/edit", "[N]", locale.T("change your last message, or the one N before it"), (*talk).edit},
		{"/export", "FILE", locale.T("write this conversation to a file ending in .md, .html or .json"), (*talk).export},
		{"/model", "[MODEL]", locale.T("ask this model, or show which one"), func(k *talk, ctx context.Context, args []string) (outcome, error) {
			return k.choose(ctx, "model", args)
		}},
		{"/new", "", locale.T("begin a new conversation"), (*talk).startNewSession},
		{"/quit", "", locale.T("leave"), nil},
		{"/session", "N", locale.T("go on with another conversation, by its number or words of its title"), (*talk).switchSession},
		{"/sessions", "", locale.T("list the latest conversations"), (*talk).listSessions},
		{"/steer", "TEXT", locale.T("tell the model something while it answers"), (*talk).steer},
	}
}

// commandIn returns the function that runs a line with a command of the chat, or with /SERVER:PROMPT. found is false for
// all other lines.
func (k *talk) commandIn(line string) (run func(context.Context) (outcome, error), found bool) {
	words := strings.Fields(line)
	if len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return nil, false
	}
	for _, c := range commands() {
		if c.name == words[0] && c.run != nil {
			return func(ctx context.Context) (outcome, error) { return c.run(k, ctx, words[1:]) }, true
		}
	}
	if strings.Contains(words[0], ":") {
		return func(ctx context.Context) (outcome, error) { return k.prompt(ctx, line) }, true
	}
	return nil, false
}

// isQuit reports whether a line ends the program.
func isQuit(line string) bool { return line == "/quit" || line == "/exit" }

// helpLines describe the commands of the chat itself.
func helpLines() []string {
	lines := []string{locale.T("In this chat:")}
	for _, c := range commands() {
		lines = append(lines, fmt.Sprintf("  %-18s %s", strings.TrimSpace(c.name+" "+c.args), c.about))
	}
	return append(lines,
		fmt.Sprintf("  %-18s %s", "/SERVER:PROMPT", locale.T("uses a prompt of a server; its arguments follow, as NAME=VALUE or in their order")),
		fmt.Sprintf("  %-18s %s", "@FILE", locale.T("attaches a picture or a text; a part of its path is enough to find it")),
		fmt.Sprintf("  %-18s %s", "@URI", locale.T("attaches a resource of a server")))
}

// startNewSession leaves the session; a new one is created with the next message.
func (k *talk) startNewSession(context.Context, []string) (outcome, error) {
	if err := k.errorIfAnswering(); err != nil {
		return outcome{}, err
	}
	k.setID("")
	k.setEditing("")
	return outcome{lines: []string{locale.T("a new conversation begins with what you say next")}}, nil
}

// errorIfAnswering returns an error while an answer is being written, because output of two conversations would be mixed.
func (k *talk) errorIfAnswering() error {
	if k.running.Load() > 0 {
		return root.Usage("an answer is being written; wait for its end, or end it with Ctrl-C")
	}
	return nil
}

// keyLines describe the keys of the full-screen chat.
func keyLines() []string {
	lines := []string{locale.T("Keys:")}
	for _, k := range []struct{ key, about string }{
		{"Enter", locale.T("sends")},
		{"Alt-Enter", locale.T("begins a line, as Ctrl-J does")},
		{"↑ ↓", locale.T("go to what you typed before, and through what is offered")},
		{"Tab", locale.T("completes, then goes to what is offered")},
		{"Ctrl-C", locale.T("ends the answer; twice leaves")},
		{"Esc", locale.T("leaves a choice or an edit; twice ends the answer")},
		{"Ctrl-/", locale.T("undoes the last change of your text")},
		{"Ctrl-W, Ctrl-U", locale.T("delete a word, and to the begin of the line")},
		{"Ctrl-Z", locale.T("back to the shell; fg returns")},
	} {
		lines = append(lines, fmt.Sprintf("  %-18s %s", k.key, k.about))
	}
	return lines
}

// steer sends a message to the model that is answering. If no model is answering, it is an ordinary message.
func (k *talk) steer(_ context.Context, args []string) (outcome, error) {
	if len(args) == 0 {
		return outcome{}, root.Usage("expected a text for the model: /steer TEXT")
	}
	return outcome{send: &message{text: strings.Join(args, " "), steer: true}}, nil
}

// view fetches the session with the messages of its active branch.
func (k *talk) view(ctx context.Context) (gjson.Result, error) {
	id := k.id()
	if id == "" {
		return gjson.Result{}, root.Usage("nothing has been said yet")
	}
	var view json.RawMessage
	err := k.api.Do(ctx, http.MethodGet, "/sessions/"+url.PathEscape(id), nil, &view)
	return gjson.ParseBytes(view), err
}

// edit makes the next message replace an earlier one.
func (k *talk) edit(ctx context.Context, args []string) (outcome, error) {
	back := 0
	if len(args) > 0 {
		var err error
		if back, err = strconv.Atoi(args[0]); err != nil || back < 0 || len(args) > 1 {
			return outcome{}, root.Usage("%s is not a number: /edit is about your last message, /edit 1 about the one before it", strings.Join(args, " "))
		}
	}
	view, err := k.view(ctx)
	if err != nil {
		return outcome{}, err
	}
	own := view.Get(`path.#(role=="user")#`).Array()
	if back >= len(own) {
		return outcome{}, root.Usage("there are only %d messages of yours", len(own))
	}
	m := own[len(own)-1-back]
	k.setEditing(m.Get("id").String())
	return outcome{input: textOf(m)}, nil
}

// textOf returns the text of a message.
func textOf(m gjson.Result) string {
	var texts []string
	for _, t := range m.Get(`parts.#(type=="text")#.text`).Array() {
		texts = append(texts, t.String())
	}
	return strings.Join(texts, "\n")
}

// again has the last answer written once more.
func (k *talk) again(ctx context.Context, _ []string) (outcome, error) {
	view, err := k.view(ctx)
	if err != nil {
		return outcome{}, err
	}
	answers := view.Get(`path.#(role=="assistant")#.id`).Array()
	if len(answers) == 0 {
		return outcome{}, root.Usage("nothing has been answered yet")
	}
	return outcome{send: &message{again: answers[len(answers)-1].String()}}, nil
}

// branchPoints returns the indexes in a path where the conversation branches.
func branchPoints(path []gjson.Result) (list []int) {
	for i, m := range path {
		if m.Get("of").Int() > 1 {
			list = append(list, i)
		}
	}
	return list
}

// siblingPosition describes the position of a message among its siblings, such as 2/3; empty if it has none.
func siblingPosition(m gjson.Result) string {
	if m.Get("of").Int() <= 1 {
		return ""
	}
	return fmt.Sprintf("%d/%d", m.Get("index").Int()+1, m.Get("of").Int())
}

// branches lists the points at which the conversation branches.
func (k *talk) branches(ctx context.Context, _ []string) (outcome, error) {
	view, err := k.view(ctx)
	if err != nil {
		return outcome{}, err
	}
	path := view.Get("path").Array()
	var o outcome
	for n, at := range branchPoints(path) {
		m := path[at]
		who := map[bool]string{true: locale.T("you"), false: locale.T("answer")}[m.Get("role").String() == "user"]
		o.lines = append(o.lines, fmt.Sprintf("%d  %s  %s  %s", n+1, siblingPosition(m), who, output.Truncate(output.OneLine(textOf(m)), 50)))
	}
	if o.lines == nil {
		o.lines = []string{locale.T("there is one branch; /edit and /again make others")}
	}
	return o, nil
}

// branch goes to another branch and shows its messages.
func (k *talk) branch(ctx context.Context, args []string) (outcome, error) {
	view, err := k.view(ctx)
	if err != nil {
		return outcome{}, err
	}
	path := view.Get("path").Array()
	at := branchPoints(path)
	var numbers []int
	for _, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil || n < 1 {
			return outcome{}, root.Usage("%q is not a number from 1", a)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) == 1 && len(at) == 1 { // there is only one branching point
		numbers = slices.Insert(numbers, 0, 1)
	}
	if len(numbers) != 2 || numbers[0] > len(at) {
		return outcome{}, root.Usage("which one? /branches lists the points; /branch 1 2 goes to the second branch at the first of them")
	}
	from := at[numbers[0]-1]
	m := path[from]
	if of := int(m.Get("of").Int()); numbers[1] > of {
		return outcome{}, root.Usage("that point has %d branches", of)
	}
	k.setEditing("")
	var moved json.RawMessage
	err = k.api.Do(ctx, http.MethodPost, "/messages/"+url.PathEscape(m.Get("parentId").String())+"/select", map[string]int{"index": numbers[1] - 1}, &moved)
	if err != nil {
		return outcome{}, err
	}
	return outcome{path: gjson.GetBytes(moved, "path").Array()[from:]}, nil
}
