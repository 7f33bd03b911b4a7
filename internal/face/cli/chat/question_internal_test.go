package chat

import "testing"

// A y answers a question, and only its name one that has a name: letters of it answer nothing.
func TestQuestionKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		keys      []string
		done, yes bool
	}{
		{"", []string{"y"}, true, true},
		{"", []string{"n"}, true, false},
		{"", []string{"enter"}, true, false},
		{"", []string{"esc"}, true, false},
		{"", []string{"x", "left"}, false, false},
		{"yes", []string{"y"}, false, false},
		{"yes", []string{"y", "e", "s", "enter"}, true, true},
		{"yes", []string{"y", "e", "t", "backspace", "s", "enter"}, true, true},
		{"工作", []string{"工", "具", "backspace", "作", "enter"}, true, true},
		{"yes", []string{"backspace", "n", "o", "enter"}, true, false},
		{"yes", []string{"y", "e", "s", "esc"}, true, false},
		{"yes", []string{"enter"}, true, false},
	} {
		q := &question{name: tt.name}
		var done, yes bool
		for _, k := range tt.keys {
			text := k
			if len(k) > 1 && k[0] < 0x80 {
				text = "" // a key without text
			}
			done, yes = q.key(k, text)
		}
		if done != tt.done || yes != tt.yes {
			t.Errorf("%q, %q: done %t, yes %t", tt.name, tt.keys, done, yes)
		}
	}
}
