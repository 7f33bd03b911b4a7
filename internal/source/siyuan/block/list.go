package block

import "collie/internal/source/siyuan/kernel"

// distinct drops what came before, keeping order; never nil.
func distinct(ids []kernel.ID) []kernel.ID {
	out, seen := make([]kernel.ID, 0, len(ids)), map[kernel.ID]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// excerpt is the beginning of a text, in characters.
func excerpt(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
