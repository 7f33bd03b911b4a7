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
	"sync"
	"sync/atomic"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/tidwall/gjson"
	"golang.org/x/term"

	"collie/internal/face/cli/call"
	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// This file has the full-screen chat: the model of its event loop, its start and its end. Other files handle single
// kinds of events.

// Events from outside of the event loop.
type (
	// opened says that the API is connected, or why it is not.
	opened struct {
		api *conversation.API
		err error
	}
	// event is an event of a turn.
	event struct {
		of   *turn
		body json.RawMessage
	}
	// ended says how the turn that answers said has ended.
	ended struct {
		of    *turn
		said  message
		began bool // the turn has had an event
		turn  json.RawMessage
		err   error
	}
	printed struct{}              // pending lines were printed
	notice  struct{ text string } // a text to show
	learned struct{}              // there may be more suggestions
	// done is the outcome of a command that was typed as line.
	done struct {
		outcome
		line string
		err  error
	}
	// history is the session that is continued.
	history struct {
		view json.RawMessage
		err  error
	}
	tick struct{} // comes every second
)

// draw runs the full-screen user interface until the person quits.
func (k *talk) draw(ctx context.Context) error {
	asker, err := call.NewCaller(k.Program, "collie chat", false)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newScreen(inner, k)
	s.cooked = setRawMode(k.In)
	defer s.cooked()
	// The first line is printed before the program draws anything.
	if _, err := fmt.Fprint(k.Out, s.bold("collie chat")+"  "+locale.T("Enter sends, Alt-Enter begins a line, /help, Ctrl-C twice leaves")+"\r\n"); err != nil {
		return err
	}
	s.program = tea.NewProgram(s, tea.WithContext(inner), tea.WithInput(k.In), tea.WithOutput(s.countWrites(k.Out)), tea.WithoutSignalHandler())
	s.asker = &person{Caller: asker, screen: s, filled: make(chan struct{}, 1)}
	s.asker.filled <- struct{}{}
	var api *conversation.API
	s.work.Go(func() { // ends with inner at the latest
		var opening error
		api, opening = k.open(inner)
		s.program.Send(opened{api, opening})
	})
	_, err = s.program.Run()
	s.cooked()
	cancel()
	s.work.Wait()
	if s.form != nil {
		s.endForm(s.form)
	}
	if saved := k.drafts.save(k.id(), s.unsent()); saved != nil {
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

// setRawMode switches the terminal to raw mode before the first line is printed. Otherwise the terminal would turn an Enter
// that is typed early into a newline. It returns a function that restores the former mode.
func setRawMode(in io.Reader) (restore func()) {
	f, ok := in.(*os.File)
	if !ok {
		return func() {}
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return func() {} // reading the keys will report the problem
	}
	return func() { _ = term.Restore(int(f.Fd()), before) } // it fails only if the terminal is gone
}

// suspend stops the program until the shell continues it. Meanwhile the terminal has the mode from before the program
// started.
func (s *screen) suspend() tea.Msg {
	if s.program.ReleaseTerminal() != nil {
		return nil
	}
	s.cooked() // the library restores the mode from its own start, which is raw mode
	stopProcess()
	if s.program.RestoreTerminal() != nil {
		return tea.QuitMsg{}
	}
	return nil
}

// screen is the model of the user interface (see [tea.Model]). Finished text is printed and scrolls away. The view below
// it has the unfinished part of the answer, what is running, and the input.
type screen struct {
	*talk
	ctx     context.Context //nolint:containedctx // context of the program, for goroutines of the event loop
	program *tea.Program
	cooked  func() // restores the terminal's line mode
	asker   *person
	work    sync.WaitGroup

	input         textarea.Model
	width, height int
	styled        bool
	ready         bool   // the conversation is open and its history shown
	entered       bool   // Enter was pressed too early: send when ready
	later         string // draft that returns to the input when the message of the command line is sent
	commanding    bool   // a command is running; what is entered meanwhile waits
	escaped       bool   // Esc was pressed once while an answer is written
	unseen        bool   // the window lost the focus
	window        int64  // context window of the model in tokens; 0 if unknown
	context       int64  // tokens in the context after the last step
	contextOf     string // session to which context belongs

	suggestedTo string // text for which suggestions were made
	suggested   []suggestion
	wordAt      int  // offset of the word that the suggestions complete
	chosen      int  // index of the selected suggestion; -1 for none
	looking     bool // choices, or prompts and resources, are being loaded

	recall recall
	undo   undo

	held      bool         // the view is frozen until pending text is printed above it
	last      tea.View     // last drawn view
	lastLines int          // number of its lines
	lastSized time.Time    // when that number last changed
	lastFrame int64        // value of frames at that time
	frames    atomic.Int64 // number of writes to the terminal
	tallest   int          // largest number of lines that may still be on the terminal
	tallestAt time.Time

	lines    []string // to be printed
	printing bool     // lines are being printed; others wait
	asking   []question
	form     *form // form of a server that is shown
	leaving  bool  // Ctrl-C was pressed once

	turns  []*turn // unfinished turns, the running one first
	text   string  // unprinted part of the answer
	part   int64   // index of the part of the answer that text belongs to
	missed conversation.Missed
	cards  []*card

	thinking time.Time // when reasoning began; zero if the model is not reasoning
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
	return &screen{talk: k, ctx: ctx, input: in, chosen: -1, width: 80, height: 24, styled: bool(k.Painter(k.Out))}
}

// Init puts the draft or the message of the command line into the input, and looks for model providers in the background.
// Nothing is printed until the first view is on the terminal, because earlier output would end up in the wrong lines.
func (s *screen) Init() tea.Cmd {
	s.input.SetValue(s.drafts.load(s.flags.session))
	if s.flags.message != "" {
		s.later = s.input.Value()
		s.input.SetValue(s.flags.message)
		s.entered = true
	}
	s.printing = true
	drawn := tea.Tick(redrawTime, func(time.Time) tea.Msg { return printed{} })
	return tea.Batch(func() tea.Msg { return notice{s.localProvidersText(s.ctx)} }, drawn, tickLater())
}

// tickLater sends a tick in a second.
func tickLater() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{} }) }

// Update handles an event; see [tea.Model].
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := s.update(msg)
	return s, tea.Batch(cmd, s.next())
}

// update passes an event to the function that handles it.
func (s *screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.resize(msg)
		return nil
	case printed:
		s.printing, s.held = false, false
		return nil
	case tick:
		if s.form == nil {
			_ = s.drafts.save(s.id(), s.unsent()) // it is tried again at the end, where an error is shown
		}
		s.loadWhatIsMissing()
		return tickLater()
	case opened:
		return s.opened(msg)
	case notice:
		if msg.text != "" {
			s.say("%s", msg.text)
		}
		return nil
	case history:
		return s.goOnWith(msg)
	case done:
		return s.showResult(&msg)
	case learned:
		s.suggestedTo, s.looking = "", false // there may be more suggestions now
		return nil
	case question:
		s.ask(msg)
		return nil
	case withdrawn:
		s.withdraw(msg)
		return nil
	case *form:
		s.beginForm(msg)
		return nil
	case formText:
		s.formText(msg.text)
		return nil
	case formEnd:
		s.endForm(msg.form)
		return nil
	case event:
		s.turnEvent(msg)
		return nil
	case ended:
		s.ended(msg)
		return nil
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.BlurMsg:
		s.unseen = true
		return nil
	case tea.FocusMsg:
		s.unseen = false
		return nil
	case remembered:
		s.recall.prepend(msg.lines)
		s.step(1)
		return nil
	case tea.PasteMsg:
		return s.paste(msg)
	}
	return s.passToInput(msg)
}

// resize follows the size of the terminal, down to a size at which something can still be shown.
func (s *screen) resize(size tea.WindowSizeMsg) {
	s.width, s.height = max(size.Width, 10), max(size.Height, 4)
	s.input.SetWidth(s.width)
	s.input.MaxHeight = max(min(8, s.height/3), 1)
}

// goOnWith shows the earlier messages of the conversation that is continued, and begins.
func (s *screen) goOnWith(h history) tea.Cmd {
	if h.err != nil {
		s.fail(h.err)
	}
	path := gjson.GetBytes(h.view, "path").Array()
	s.recall.prepend(ownTexts(path))
	s.history(path)
	return s.begin()
}

// turnEvent handles an event of a turn, and whatever was missed before it.
func (s *screen) turnEvent(e event) {
	if e.of.since.IsZero() {
		e.of.since = time.Now()
	}
	for _, body := range s.missed.Events(e.body) {
		s.event(gjson.ParseBytes(body))
	}
}

// paste inserts pasted text where the person types: into the answer to a question, a form or the message.
func (s *screen) paste(msg tea.PasteMsg) tea.Cmd {
	if len(s.asking) > 0 {
		s.asking[0].typed += msg.Content
		return nil
	}
	if path, ok := pastedFile(msg.Content); ok && s.form == nil {
		msg.Content = path
	}
	return s.passToInput(msg)
}

// opened starts to load what can be completed. It fetches the history of a session that is continued, and begins a new
// one at once.
func (s *screen) opened(o opened) tea.Cmd {
	if o.err != nil {
		s.fail(o.err)
		return nil
	}
	s.api = o.api
	s.work.Go(func() { // ends with the program at the latest
		s.learnTools(s.ctx, false)
		s.program.Send(learned{})
		s.learnAllOnce(s.ctx)
		s.program.Send(learned{})
	})
	id := s.id()
	if id == "" {
		return s.begin()
	}
	if text := s.drafts.load(id); s.flags.message != "" {
		s.later = text
	} else if text != "" && s.input.Value() == "" {
		s.input.SetValue(text)
	}
	path := "/sessions/" + url.PathEscape(id)
	return func() tea.Msg {
		var h history
		h.err = s.api.Do(s.ctx, http.MethodGet, path, nil, &h.view)
		return h
	}
}

// unsent returns the text to store as a draft. A message of the command line that could not be sent does not replace an
// earlier draft.
func (s *screen) unsent() string { return output.FirstNonEmpty(s.later, s.input.Value()) }

// begin sends what was entered before the screen was ready.
func (s *screen) begin() tea.Cmd {
	s.ready = true
	return s.sendEntered()
}

// fail shows an error with its hint.
func (s *screen) fail(err error) {
	text, hint := root.TextAndHint(err)
	s.say("%s %s", s.Painter(s.Out).Mark("✗"), output.Harmless(text))
	if hint != "" {
		s.say("  %s", output.Harmless(hint))
	}
}
