package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/tidwall/gjson"
	"golang.org/x/term"

	"collie/internal/face/cli/call"
	"collie/internal/face/cli/chat/markdown"
	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// What happens outside the loop of the screen.
type (
	opened struct {
		api *conversation.API
		err error
	}
	event struct {
		of   *turn
		body json.RawMessage
	}
	ended struct {
		of    *turn
		said  message
		began bool
		turn  json.RawMessage
		err   error
	}
	printed struct{}
	notice  struct{ text string }
	learned struct{} // which tools there are
	done    struct {
		outcome
		line string
		err  error
	}
	history struct {
		view json.RawMessage
		err  error
	}
	tick     struct{}
	question struct {
		tool.Question
		typed  string // of the name that the question wants
		answer chan<- json.RawMessage
	}
)

// draw runs the screen until the person leaves.
func (k *talk) draw(ctx context.Context) error {
	asker, err := call.NewCaller(k.Program, "collie chat", false)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newScreen(inner, k)
	restore := raw(k.In)
	defer restore()
	// This line stands above all that changes, and is there at once.
	if _, err := fmt.Fprint(k.Out, s.bold("collie chat")+"  "+locale.T("Enter sends, Alt-Enter begins a line, /help, Ctrl-C twice leaves")+"\r\n"); err != nil {
		return err
	}
	s.program = tea.NewProgram(s, tea.WithContext(inner), tea.WithInput(k.In), tea.WithOutput(k.Out), tea.WithoutSignalHandler())
	s.asker = &person{Caller: asker, screen: s}
	var api *conversation.API
	s.work.Go(func() { // ends with inner at the latest
		var opening error
		api, opening = k.open(inner)
		s.program.Send(opened{api, opening})
	})
	_, err = s.program.Run()
	restore()
	cancel()
	s.work.Wait()
	if saved := k.drafts.save(k.id(), s.input.Value()); saved != nil {
		k.Warn("what you were typing is not kept: %s", saved.Error())
	}
	if api != nil {
		api.Close()
	}
	if id := k.id(); id != "" {
		k.Note("%s", k.Dim(locale.Sprintf("go on with %s", k.Typed("chat --session "+id))))
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// raw has the terminal hand over each key as it is, from before the first line on: whoever types as soon as that is there must not
// have Enter turned into a new line. It returns a function that ends that.
func raw(in io.Reader) (restore func()) {
	f, ok := in.(*os.File)
	if !ok {
		return func() {}
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return func() {} // what reads the keys says what is wrong with the terminal
	}
	return sync.OnceFunc(func() { _ = term.Restore(int(f.Fd()), before) }) // an error means that the terminal has gone
}

// person is whom the gate and servers ask, in the place where the answer is written.
type person struct {
	tool.Caller
	screen *screen
}

// Capabilities is that of a terminal.
func (*person) Capabilities() json.RawMessage {
	return json.RawMessage(`{"elicitation":{"form":{},"url":{}}}`)
}

// Ask asks the gate's questions on the screen; for forms of servers the screen makes room.
func (a *person) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != tool.MethodConfirm {
		if err := a.screen.program.ReleaseTerminal(); err != nil {
			return nil, err
		}
		defer func() { _ = a.screen.program.RestoreTerminal() }()
		return a.Caller.Ask(ctx, method, params)
	}
	var q tool.Question
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, err
	}
	answer := make(chan json.RawMessage, 1)
	a.screen.program.Send(question{Question: q, answer: answer})
	select {
	case said := <-answer:
		return said, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// screen is what the terminal shows: below what has scrolled away the part of the answer that still changes, what runs, and the
// place to type.
type screen struct {
	*talk
	ctx     context.Context //nolint:containedctx // that of the program, for what the loop starts
	program *tea.Program
	asker   *person
	work    sync.WaitGroup

	input         textarea.Model
	width, height int
	styled        bool
	ready         bool // the conversation is open, and what was said before is shown
	entered       bool // what was typed is sent once it is

	suggestedTo string // what was typed when suggested and wordAt were found
	suggested   []suggestion
	wordAt      int  // where the word begins that they continue
	looking     bool // for prompts and resources that were not there before

	tallest   int // number of lines that a recent view has, which may be on the terminal still
	tallestAt time.Time

	lines    []string // for the scrollback
	printing bool
	asking   []question
	leaving  bool

	turns  []*turn // that have not ended, the one that runs first
	text   string  // of the answer, from the first block that may change
	part   int64
	missed conversation.Missed
	shown  int // lines of its layout that have scrolled away
	cards  []*card

	thinking time.Time // since when the model reasons; zero if it does not
}

// turn is an answer that is written, or waits to be.
type turn struct {
	cancel context.CancelFunc
	since  time.Time // when its first event came; zero before
}

// card is a tool call that runs.
type card struct {
	id, title, args, state string
	since                  time.Time
}

func newScreen(ctx context.Context, k *talk) *screen {
	in := textarea.New()
	in.Prompt, in.ShowLineNumbers, in.DynamicHeight, in.MinHeight, in.MaxHeight, in.CharLimit = "> ", false, true, 1, 8, 0
	in.MaxContentHeight = 10_000
	in.KeyMap.InsertNewline.SetKeys("alt+enter", "ctrl+j", "shift+enter")
	in.SetVirtualCursor(false)
	styles := in.Styles()
	plain := textarea.StyleState{}
	styles.Focused, styles.Blurred = plain, plain
	in.SetStyles(styles)
	in.Focus()
	return &screen{talk: k, ctx: ctx, input: in, width: 80, height: 24, styled: bool(k.Painter(k.Out))}
}

// Init opens the conversation while the screen is there already. Nothing is printed until the first view is on the terminal: what is
// printed before that stands in other lines.
func (s *screen) Init() tea.Cmd {
	s.input.SetValue(s.drafts.load(s.flags.session))
	s.printing = true
	drawn := tea.Tick(redrawn, func(time.Time) tea.Msg { return printed{} })
	return tea.Batch(func() tea.Msg { return notice{s.found(s.ctx)} }, drawn, every())
}

// redrawn is the time after which a view is on the terminal.
const redrawn = 200 * time.Millisecond

func every() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{} }) }

func (s *screen) bold(text string) string {
	if s.styled {
		return "\x1b[1m" + text + "\x1b[22m"
	}
	return text
}

// say puts a line, or several, above all that changes.
func (s *screen) say(format string, args ...any) {
	s.put(strings.Split(fmt.Sprintf(format, args...), "\n"))
}

func (s *screen) put(lines []string) {
	for _, line := range lines {
		s.lines = append(s.lines, strings.Split(lipgloss.Wrap(line, s.width, ""), "\n")...)
	}
}

// next prints what waits for the scrollback, in order, and not more at once than there is room for above what changes: the
// terminal would scroll that away, too, and it would stay in the scrollback.
func (s *screen) next() tea.Cmd {
	if s.printing || len(s.lines) == 0 {
		return nil
	}
	n := min(len(s.lines), max(s.height-s.tallest, 1))
	text := strings.Join(s.lines[:n], "\n")
	if text == "" {
		text = " "
	}
	s.lines, s.printing = s.lines[n:], true
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printed{} })
}

// Update takes up what has happened.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := s.update(msg)
	return s, tea.Batch(cmd, s.next())
}

func (s *screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = max(msg.Width, 10), max(msg.Height, 4)
		s.input.SetWidth(s.width)
		s.input.MaxHeight = max(min(8, s.height/3), 1)
		return nil
	case printed:
		s.printing = false
		return nil
	case tick:
		_ = s.drafts.save(s.id(), s.input.Value()) // tried again, and told of when leaving
		s.lookAgain()
		return every()
	case opened:
		return s.opened(msg)
	case notice:
		if msg.text != "" {
			s.say("%s", msg.text)
		}
		return nil
	case history:
		if msg.err != nil {
			s.fail(msg.err)
		}
		s.history(gjson.GetBytes(msg.view, "path").Array())
		return s.begin()
	case done:
		return s.done(&msg)
	case learned:
		s.suggestedTo, s.looking = "", false // there may be more now
		return nil
	case question:
		s.asking = append(s.asking, msg)
		return nil
	case event:
		if msg.of.since.IsZero() {
			msg.of.since = time.Now()
		}
		for _, e := range s.missed.Events(msg.body) {
			s.event(gjson.ParseBytes(e))
		}
		return nil
	case ended:
		s.ended(msg)
		return nil
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.PasteMsg:
		if len(s.asking) > 0 {
			s.asking[0].typed += msg.Content
			return nil
		}
	}
	var cmd tea.Cmd
	s.input, cmd = s.input.Update(msg)
	return cmd
}

// lookAgain asks for prompts and resources once more while somebody types the name of one that is not known: servers list
// them after their tools, and may change them.
func (s *screen) lookAgain() {
	if s.api == nil || s.looking || !namesOffer(s.input.Value()) || len(s.suggestions()) > 0 {
		return
	}
	s.looking = true
	s.work.Go(func() { // ends with the program at the latest
		s.learnOffered(s.ctx)
		s.program.Send(learned{})
	})
}

func (s *screen) opened(o opened) tea.Cmd {
	if o.err != nil {
		s.fail(o.err)
		return nil
	}
	s.api = o.api
	s.work.Go(func() { // ends with the program at the latest
		s.learnTools(s.ctx, false)
		s.program.Send(learned{})
		s.learnt(s.ctx)
		s.program.Send(learned{})
	})
	id := s.id()
	if id == "" {
		return s.begin()
	}
	if text := s.drafts.load(id); text != "" && s.input.Value() == "" {
		s.input.SetValue(text)
	}
	path := "/sessions/" + url.PathEscape(id)
	return func() tea.Msg {
		var h history
		h.err = s.api.Do(s.ctx, http.MethodGet, path, nil, &h.view)
		return h
	}
}

// begin takes what was entered meanwhile.
func (s *screen) begin() tea.Cmd {
	s.ready = true
	if !s.entered {
		return nil
	}
	return s.enter()
}

// history shows what was said before.
func (s *screen) history(path []gjson.Result) {
	for _, m := range path {
		if p := place(m); p != "" {
			s.say("%s", s.Dim(locale.Sprintf("branch %s", p)))
		}
		if m.Get("ownTools").Bool() {
			s.say("! %s", conversation.OwnTools(m.Get("provider").String()))
		}
		for _, p := range m.Get("parts").Array() {
			text := output.Harmless(p.Get("text").String())
			switch p.Get("type").String() {
			case "text":
				if m.Get("role").String() == "user" {
					s.said(text)
				} else {
					s.block(text)
				}
			case "tool_call":
				title, args := conversation.CallTitle(p.Get("name").String(), p.Get("args").String())
				s.say("✓ %s  %s", s.bold(title), output.Truncate(args, s.width))
			case "file":
				s.say("  @%s", output.OneLine(p.Get("file.name").String()))
			case "steer":
				s.say("%s", s.Dim(locale.Sprintf("the model was told: %s", output.OneLine(text))))
			case "notice":
				s.say("! %s", conversation.NoticeText(p))
			}
		}
	}
}

// said shows what the person said.
func (s *screen) said(text string) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = s.bold("> " + l)
	}
	s.put(append(append([]string{""}, lines...), ""))
}

// key is a key that was pressed.
func (s *screen) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if name != "ctrl+c" {
		s.leaving = false
	}
	if len(s.asking) > 0 && name != "ctrl+c" {
		if done, typed := s.asking[0].key(name, msg.Text); done {
			q := s.asking[0]
			s.asking = s.asking[1:]
			answer := call.Answer(&q.Question, typed)
			said := map[bool]string{true: locale.T("yes"), false: locale.T("no")}[gjson.GetBytes(answer, "confirm").Bool()]
			if gjson.GetBytes(answer, "grant").Exists() {
				said = typed
			}
			s.say("%s%s", call.QuestionText(&q.Question), said)
			q.answer <- answer
		}
		return nil
	}
	switch name {
	case "ctrl+c":
		switch {
		case s.leaving:
			return tea.Quit
		case len(s.turns) > 0:
			s.turns[0].cancel()
		}
		s.leaving = true
		return nil
	case "ctrl+d":
		if s.input.Value() == "" {
			return tea.Quit
		}
	case "tab":
		text := s.input.Value()
		s.input.SetValue(completed(text, s.wordAt, s.suggestions()))
		return nil
	case "esc":
		if s.isEditing() {
			s.setEditing("")
			s.input.Reset()
		}
		return nil
	case "enter":
		return s.enter()
	}
	var cmd tea.Cmd
	s.input, cmd = s.input.Update(msg)
	return cmd
}

// enter sends what was typed.
func (s *screen) enter() tea.Cmd {
	text := strings.TrimSpace(s.input.Value())
	switch {
	case text == "":
		return nil
	case isQuit(text):
		s.input.Reset()
		return tea.Quit
	case !s.ready:
		s.entered = true
		return nil
	}
	s.input.Reset()
	s.said(output.Harmless(text))
	if run, found := s.commandIn(text); found {
		return func() tea.Msg {
			o, err := run(s.ctx)
			return done{o, text, err}
		}
	}
	if text == "/help" {
		s.put(helpLines())
	}
	s.send(s.compose(text))
	return nil
}

// done shows what has come of a command.
func (s *screen) done(d *done) tea.Cmd {
	if d.err != nil {
		s.fail(d.err)
		if s.input.Value() == "" {
			s.input.SetValue(d.line)
		}
		return nil
	}
	s.put(d.lines)
	s.history(d.path)
	if d.input != "" {
		s.input.SetValue(d.input)
	}
	if d.send != nil {
		s.send(*d.send)
	}
	return nil
}

// fail shows an error, and what helps.
func (s *screen) fail(err error) {
	s.say("✗ %s", output.Harmless(err.Error()))
	if hint := root.WhatHelps(err); hint != "" {
		s.say("  %s", output.Harmless(hint))
	}
}

// send has a message answered; what it is told of comes as messages. Nothing is kept of a turn that did not begin, so its
// text comes back.
func (s *screen) send(m message) {
	ctx, cancel := context.WithCancel(s.ctx)
	if len(s.turns) > 0 && !m.steer {
		s.say("%s", s.Dim(locale.T("it waits until the answer is finished; /steer TEXT tells the model at once")))
	}
	t := &turn{cancel: cancel}
	s.turns = append(s.turns, t)
	s.work.Go(func() { // ends with the turn, or with ctx
		defer cancel()
		e := ended{of: t, said: m}
		e.turn, e.err = s.answer(ctx, m, s.asker, func(text string) { s.program.Send(notice{"! " + text}) }, func(body json.RawMessage) {
			e.began = true
			s.program.Send(event{t, body})
		})
		s.program.Send(e)
	})
}

// event is what the turn tells.
func (s *screen) event(e gjson.Result) {
	d := e.Get("data")
	kind := e.Get("type").String()
	if kind == "reasoning.delta" && s.thinking.IsZero() {
		s.thinking = time.Now()
	} else if kind != "reasoning.delta" && !s.thinking.IsZero() {
		s.thought()
	}
	switch kind {
	case "text.delta":
		if part := d.Get("partIndex").Int(); part != s.part {
			s.flush()
			s.part = part
		}
		s.text += output.Harmless(d.Get("text").String())
		if at := markdown.Split(s.text); at > 0 {
			s.block(s.text[:at])
			s.text = s.text[at:]
		}
	case "tool.proposed":
		if d.Get("partial").Bool() {
			return
		}
		s.flush()
		c := &card{id: d.Get("callId").String(), state: locale.T("waits"), since: time.Now()}
		c.title, c.args = conversation.CallTitle(d.Get("name").String(), d.Get("args").String())
		s.cards = append(s.cards, c)
	case "tool.start", "tool.asking":
		if c := s.card(d); c != nil {
			c.state = map[bool]string{true: locale.T("runs"), false: locale.T("asks you")}[kind == "tool.start"]
		}
	case "tool.result":
		c := s.card(d)
		if c == nil {
			return
		}
		s.cards = slices.DeleteFunc(s.cards, func(o *card) bool { return o == c })
		mark := "✓"
		if !d.Get("ok").Bool() {
			mark = "✗"
		}
		s.say("%s %s  %s", s.Painter(s.Out).Mark(mark), s.bold(c.title), took(d.Get("durationMs").Int()))
		s.say("  %s", output.Truncate(c.args, max(s.width-2, 1)))
		s.say("  %s", output.Truncate(output.OneLine(d.Get("preview").String()), max(s.width-2, 1)))
	case "turn.start":
		if d.Get("ownTools").Bool() {
			s.say("! %s", conversation.OwnTools(d.Get("agent").String()))
		}
	case "notice":
		s.flush()
		s.say("! %s", conversation.NoticeText(d))
	case "steer":
		s.flush()
		s.say("%s", s.Dim(locale.Sprintf("the model was told: %s", output.OneLine(d.Get("text").String()))))
	case "retry":
		s.say("! %s", locale.Sprintf("trying again: %s", output.OneLine(d.Get("reason").String())))
	}
}

// thought is the end of reasoning, which is told where a person had to wait for it.
func (s *screen) thought() {
	if took := elapsed(s.thinking); took != "0s" {
		s.say("%s", s.Dim(locale.Sprintf("thought for %s", took)))
	}
	s.thinking = time.Time{}
}

// elapsed is how long something has taken so far, in whole seconds.
func elapsed(since time.Time) string { return time.Since(since).Truncate(time.Second).String() }

func took(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

func (s *screen) card(d gjson.Result) *card {
	for _, c := range s.cards {
		if c.id == d.Get("callId").String() {
			return c
		}
	}
	return nil
}

// block puts blocks that are whole into the scrollback.
func (s *screen) block(text string) {
	lines := s.layout(text)
	s.put(append(lines[min(s.shown, len(lines)):], ""))
	s.shown = 0
}

// flush ends the text that is being written.
func (s *screen) flush() {
	if strings.TrimSpace(s.text) != "" {
		s.block(s.text)
	}
	s.text = ""
}

func (s *screen) layout(text string) []string {
	return markdown.Renderer{Styled: s.styled}.Render(text, s.width)
}

// ended is the end of a turn.
func (s *screen) ended(e ended) {
	s.flush()
	s.cards, s.thinking = nil, time.Time{}
	s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool { return t == e.of })
	err := e.err
	if err != nil && !e.began && s.input.Value() == "" {
		s.input.SetValue(e.said.text)
		s.setEditing(e.said.edits)
	}
	if err == nil {
		err = conversation.Ended(e.turn)
		t := gjson.ParseBytes(e.turn)
		if t.Get("usage.input").Int() > 0 {
			s.say("%s", s.Dim(cost(t)+" · "+time.Since(e.of.since).Round(100*time.Millisecond).String()))
		}
	}
	if err != nil {
		s.fail(conversation.NoModel(s.ctx, s.Program, s.flags.model, err))
	}
}

// cost says who answered in a turn, and what that took.
func cost(turn gjson.Result) string {
	text := locale.Sprintf("%s tokens in, %s out", turn.Get("usage.input").String(), turn.Get("usage.output").String())
	if model := turn.Get("model").String(); model != "" {
		text = output.OneLine(model) + " · " + text
	}
	if micros := turn.Get("costMicros").Int(); micros > 0 {
		text += fmt.Sprintf(" · $%.4f", float64(micros)/1e6)
	}
	return text
}

// key takes a key that was pressed, and reports whether that answers the question, with what would have been typed to
// answer it line by line.
func (q *question) key(name, text string) (done bool, typed string) {
	switch {
	case name == "esc", q.Name == "" && (name == "n" || name == "enter"):
		return true, ""
	case q.Name == "":
		n, err := strconv.Atoi(name)
		return name == "y" || err == nil && n >= 1 && n <= len(q.Grants), name
	case name == "enter":
		return true, q.typed
	case name == "backspace":
		_, n := utf8.DecodeLastRuneInString(q.typed)
		q.typed = q.typed[:len(q.typed)-n]
	default:
		q.typed += text
	}
	return false, ""
}

// prompt is where the answer is written.
func (q *question) prompt() string {
	return call.Prompt(&q.Question) + output.OneLine(q.typed)
}

// suggestions returns what the last word that is typed may become.
func (s *screen) suggestions() []suggestion {
	if text := s.input.Value(); text != s.suggestedTo {
		s.suggestedTo = text
		s.wordAt, s.suggested = s.suggest(text)
	}
	return s.suggested
}

// View is the part of the screen that changes.
func (s *screen) View() tea.View {
	var lines []string
	below := suggestionLines(s.suggestions(), s.width)
	room := max(s.height-s.input.Height()-3-len(below), 1)
	if s.text != "" {
		lines = s.layout(s.text)
		lines = lines[min(s.shown, len(lines)):]
	}
	for _, c := range s.cards {
		lines = append(lines, output.Truncate("… "+c.title+"  "+c.state+"  "+elapsed(c.since)+"  "+c.args, s.width))
	}
	if len(s.asking) > 0 {
		lines = append(lines, strings.Split(lipgloss.Wrap(call.QuestionText(&s.asking[0].Question)+s.asking[0].prompt(), s.width, ""), "\n")...)
	}
	if len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	status := ""
	switch {
	case s.leaving:
		status = locale.T("Ctrl-C again leaves")
	case !s.ready:
		status = locale.T("opening")
	case s.isEditing():
		status = locale.T("in place of an earlier message, Esc leaves that as it is")
	case len(s.turns) > 1:
		status = locale.Sprintf("answering, %s wait", fmt.Sprint(len(s.turns)-1))
	case len(s.turns) > 0:
		status = locale.T("answering, Ctrl-C ends it")
		if !s.thinking.IsZero() {
			status = locale.T("thinking, Ctrl-C ends it")
		}
		if since := s.turns[0].since; !since.IsZero() {
			status = elapsed(since) + "  " + status
		}
	}
	lines = append(lines, s.Dim(output.Truncate(strings.Repeat("─", 2)+" "+status, s.width)))
	drawn := strings.Join(slices.Concat(lines, []string{s.input.View()}, below), "\n")
	if h := strings.Count(drawn, "\n") + 1; h >= s.tallest || time.Since(s.tallestAt) > redrawn {
		s.tallest, s.tallestAt = h, time.Now()
	}
	v := tea.NewView(drawn)
	if c := s.input.Cursor(); c != nil && len(s.asking) == 0 {
		c.Y += len(lines)
		v.Cursor = c
	}
	return v
}
