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

// command is what a line that begins with / does here. Lines with other names go to the agent host, which runs actions of
// tools.
type command struct {
	name, args, about string
	run               func(k *talk, ctx context.Context, args []string) (outcome, error)
}

// outcome is what has come of a command.
type outcome struct {
	lines []string // for the person
	// input is the text to be changed and sent again.
	input string
	// send is the message that is to be answered.
	send *message
	// path are messages to show.
	path []gjson.Result
}

func commands() []command {
	return []command{
		{"/again", "", locale.T("have the last message answered once more"), (*talk).again},
		{"/agent", "[NAME]", locale.T("answer as this agent, or show which one"), func(k *talk, _ context.Context, args []string) (outcome, error) {
			return k.choose("agent", args)
		}},
		{"/branch", "POINT N", locale.T("go to another wording or answer"), (*talk).branch},
		{"/branches", "", locale.T("list the points with several wordings or answers"), (*talk).branches},
		{"/edit", "[N]", locale.T("change your last message, or the one N before it"), (*talk).edit},
		{"/model", "[MODEL]", locale.T("ask this model, or show which one"), func(k *talk, _ context.Context, args []string) (outcome, error) {
			return k.choose("model", args)
		}},
		{"/new", "", locale.T("begin a new conversation"), (*talk).fresh},
		{"/steer", "TEXT", locale.T("tell the model something while it answers"), (*talk).steer},
		{"/quit", "", locale.T("leave"), nil},
	}
}

// commandIn returns what a line does that begins with a command of the chat, or with /SERVER:PROMPT.
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
		fmt.Sprintf("  %-18s %s", "@FILE", locale.T("attaches a picture or a text")),
		fmt.Sprintf("  %-18s %s", "@URI", locale.T("attaches a resource of a server")))
}

// fresh leaves the session.
func (k *talk) fresh(context.Context, []string) (outcome, error) {
	k.setID("")
	k.setEditing("")
	return outcome{lines: []string{locale.T("a new conversation begins with what you say next")}}, nil
}

// steer sends a message that the running answer takes up. Without one it is a message like others.
func (k *talk) steer(_ context.Context, args []string) (outcome, error) {
	if len(args) == 0 {
		return outcome{}, root.Usage("expected what the model is to be told: /steer TEXT")
	}
	return outcome{send: &message{text: strings.Join(args, " "), steer: true}}, nil
}

// choose sets what the following messages are answered with.
func (k *talk) choose(what string, args []string) (outcome, error) {
	if len(args) > 1 {
		return outcome{}, root.Usage("expected one name, got %q", strings.Join(args, " "))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(args) == 1 {
		k.overrides[what] = args[0]
	}
	chosen, _ := k.overrides[what].(string)
	if chosen == "" {
		chosen = locale.T("as the settings or the session say")
	}
	return outcome{lines: []string{what + ": " + output.OneLine(chosen)}}, nil
}

// view returns the session, whose active path it is about.
func (k *talk) view(ctx context.Context) (gjson.Result, error) {
	id := k.id()
	if id == "" {
		return gjson.Result{}, root.Usage("nothing has been said yet")
	}
	var view json.RawMessage
	err := k.api.Do(ctx, http.MethodGet, "/sessions/"+url.PathEscape(id), nil, &view)
	return gjson.ParseBytes(view), err
}

// edit has the next message that is sent take the place of an earlier one.
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

// points returns the places of a path where the conversation has several branches.
func points(path []gjson.Result) (list []int) {
	for i, m := range path {
		if m.Get("of").Int() > 1 {
			list = append(list, i)
		}
	}
	return list
}

// place says which of its siblings a message is; empty if it has none.
func place(m gjson.Result) string {
	if m.Get("of").Int() <= 1 {
		return ""
	}
	return fmt.Sprintf("%d/%d", m.Get("index").Int()+1, m.Get("of").Int())
}

func (k *talk) branches(ctx context.Context, _ []string) (outcome, error) {
	view, err := k.view(ctx)
	if err != nil {
		return outcome{}, err
	}
	path := view.Get("path").Array()
	var o outcome
	for n, at := range points(path) {
		m := path[at]
		who := map[bool]string{true: locale.T("you"), false: locale.T("answer")}[m.Get("role").String() == "user"]
		o.lines = append(o.lines, fmt.Sprintf("%d  %s  %s  %s", n+1, place(m), who, output.Truncate(output.OneLine(textOf(m)), 50)))
	}
	if o.lines == nil {
		o.lines = []string{locale.T("there is one branch; /edit and /again make others")}
	}
	return o, nil
}

func (k *talk) branch(ctx context.Context, args []string) (outcome, error) {
	view, err := k.view(ctx)
	if err != nil {
		return outcome{}, err
	}
	path := view.Get("path").Array()
	at := points(path)
	var numbers []int
	for _, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil || n < 1 {
			return outcome{}, root.Usage("%q is not a number from 1", a)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) == 1 && len(at) == 1 { // there is only one point
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
