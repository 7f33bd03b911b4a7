package wire

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// ThinkTags separates reasoning that a model writes between <think> and </think> at the beginning of its text, however
// the text is split. The zero value is ready for the beginning.
type ThinkTags struct {
	state int // 0 at the beginning, 1 in reasoning, 2 in text
	held  string
}

// Add passes text on to a, as text or reasoning.
func (t *ThinkTags) Add(a *Answer, text string) {
	if t.state == 2 || text == "" {
		a.Text(text)
		return
	}
	t.held += text
	if t.state == 0 {
		begin := strings.TrimLeft(t.held, " \t\r\n")
		rest, thinks := strings.CutPrefix(begin, thinkOpen)
		switch {
		case thinks:
			t.state, t.held = 1, rest
		case strings.HasPrefix(thinkOpen, begin):
			return // more is needed to decide
		default:
			t.End(a)
			return
		}
	}
	thought, rest, ended := strings.Cut(t.held, thinkClose)
	if !ended {
		keep := 0 // length of a possible beginning of the closing tag
		for n := 1; n < len(thinkClose) && n <= len(t.held); n++ {
			if strings.HasSuffix(t.held, thinkClose[:n]) {
				keep = n
			}
		}
		a.Reasoning(t.held[:len(t.held)-keep], nil)
		t.held = t.held[len(t.held)-keep:]
		return
	}
	a.Reasoning(thought, nil)
	t.state, t.held = 2, ""
	a.Text(strings.TrimLeft(rest, "\r\n"))
}

// End passes on what was held back.
func (t *ThinkTags) End(a *Answer) {
	if t.state == 1 {
		a.Reasoning(t.held, nil)
	} else {
		a.Text(t.held)
	}
	t.state, t.held = 2, ""
}
