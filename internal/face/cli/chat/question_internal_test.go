package chat

import (
	"testing"

	"collie/internal/face/cli/call"
	"collie/internal/tool"
)

// A y, or the number of an offered grant, answers a question with a yes. A question that has a name needs the whole name and
// Enter.
func TestQuestionKeys(t *testing.T) {
	t.Parallel()
	const no, yes, named = `{"confirm":false}`, `{"confirm":true}`, `{"confirm":true,"name":"yes"}`
	for _, tt := range []struct {
		name   string
		grants int
		keys   []string
		answer string // empty if there is none yet
	}{
		{"", 0, []string{"y"}, yes},
		{"", 0, []string{"n"}, no},
		{"", 0, []string{"enter"}, no},
		{"", 0, []string{"esc"}, no},
		{"", 0, []string{"x", "left", "1"}, ""},
		{"", 2, []string{"2"}, `{"confirm":true,"grant":"g2"}`},
		{"", 2, []string{"3", "0", "f1"}, ""},
		{"", 2, []string{"y"}, yes},
		{"", 2, []string{"enter"}, no},
		{"yes", 0, []string{"y"}, ""},
		{"yes", 2, []string{"1"}, ""},
		{"yes", 0, []string{"y", "e", "s", "enter"}, named},
		{"yes", 0, []string{"y", "e", "t", "backspace", "s", "enter"}, named},
		{"工作", 0, []string{"工", "具", "backspace", "作", "enter"}, `{"confirm":true,"name":"工作"}`},
		{"yes", 0, []string{"backspace", "n", "o", "enter"}, no},
		{"yes", 0, []string{"y", "e", "s", "esc"}, no},
		{"yes", 0, []string{"enter"}, no},
		{"yes", 2, []string{"1", "enter"}, no},
	} {
		q := &question{Question: tool.Question{Name: tt.name, Grants: []tool.GrantOffer{{ID: "g1"}, {ID: "g2"}}[:tt.grants]}}
		answer := ""
		for _, k := range tt.keys {
			text := k
			if len(k) > 1 && k[0] < 0x80 {
				text = "" // a key without text
			}
			if done, typed := q.key(k, text); done {
				answer = string(call.Answer(&q.Question, typed))
			}
		}
		if answer != tt.answer {
			t.Errorf("%q, %q: %s, want %s", tt.name, tt.keys, answer, tt.answer)
		}
	}
}
