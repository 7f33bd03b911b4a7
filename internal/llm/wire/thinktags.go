package wire

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinkState is the part of a text that is being read.
type thinkState int

const (
	atBeginning thinkState = iota // it is not known yet whether the text begins with <think>
	inReasoning
	inText
)

// ThinkTags separates reasoning that a model writes between <think> and </think> at the beginning of its text, however
// the text is split. The zero value is ready for the beginning.
type ThinkTags struct {
	state thinkState
	held  string // received, but not passed on yet, since a tag may begin in it
}

// Add passes text on to a, as text or reasoning.
func (t *ThinkTags) Add(a *Answer, text string) {
	if t.state == inText || text == "" {
		a.Text(text)
		return
	}
	t.held += text
	if t.state == atBeginning {
		begin := strings.TrimLeft(t.held, " \t\r\n")
		rest, thinks := strings.CutPrefix(begin, thinkOpen)
		switch {
		case thinks:
			t.state, t.held = inReasoning, rest
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
	t.state, t.held = inText, ""
	a.Text(strings.TrimLeft(rest, "\r\n"))
}

// End passes on what was held back.
func (t *ThinkTags) End(a *Answer) {
	if t.state == inReasoning {
		a.Reasoning(t.held, nil)
	} else {
		a.Text(t.held)
	}
	t.state, t.held = inText, ""
}
