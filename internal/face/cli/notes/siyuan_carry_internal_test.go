package notes

import "testing"

// A side that begins a question gets an upper-case letter, and stays whole in scripts that have none.
func TestCapital(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"the vault": "The vault", "SiYuan": "SiYuan", "笔记库": "笔记库", "": ""} {
		if got := capital(text); got != want {
			t.Errorf("capital(%q) = %q, want %q", text, got, want)
		}
	}
}
