package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/lazyregexp"
)

// maxCompared bounds the work of comparing two texts: lines of one times lines of the other.
const maxCompared = 1 << 22

// shownAround is how many unchanged lines are shown before and after a changed one.
const shownAround = 2

// differenceLine is a line of either text, or of both: '-', '+' or ' '. One with the sign '…'
// stands for lines of both that are left out.
type differenceLine struct {
	sign rune
	text string
}

// difference shows how a text became another, line by line. Every line that only one of them
// has is in it.
func difference(was, now []string) []differenceLine {
	head := 0
	for head < len(was) && head < len(now) && was[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(now)-head && was[len(was)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	var out []differenceLine
	add := func(sign rune, lines []string) {
		for _, l := range lines {
			out = append(out, differenceLine{sign, l})
		}
	}
	add(' ', was[:head])
	out = append(out, compared(was[head:len(was)-tail], now[head:len(now)-tail])...)
	add(' ', was[len(was)-tail:])
	return around(out)
}

// compared keeps as many lines as it can (the longest common subsequence), and none where that
// would take too long.
func compared(was, now []string) []differenceLine {
	var out []differenceLine
	i, j := 0, 0
	if len(was)*len(now) <= maxCompared {
		kept := make([][]int32, len(was)+1) // kept[i][j]: how many lines was[i:] and now[j:] share
		for i := range kept {
			kept[i] = make([]int32, len(now)+1)
		}
		for i, wa := range slices.Backward(was) {
			for j := len(now) - 1; j >= 0; j-- {
				if kept[i][j] = max(kept[i+1][j], kept[i][j+1]); wa == now[j] {
					kept[i][j] = kept[i+1][j+1] + 1
				}
			}
		}
		for i < len(was) && j < len(now) {
			switch {
			case was[i] == now[j]:
				out = append(out, differenceLine{' ', was[i]})
				i, j = i+1, j+1
			case kept[i+1][j] >= kept[i][j+1]:
				out = append(out, differenceLine{'-', was[i]})
				i++
			default:
				out = append(out, differenceLine{'+', now[j]})
				j++
			}
		}
	}
	for ; i < len(was); i++ {
		out = append(out, differenceLine{'-', was[i]})
	}
	for ; j < len(now); j++ {
		out = append(out, differenceLine{'+', now[j]})
	}
	return out
}

// around leaves out what both texts have, but for the lines next to a change.
func around(lines []differenceLine) []differenceLine {
	show := make([]bool, len(lines))
	for i, l := range lines {
		if l.sign == ' ' {
			continue
		}
		for j := max(0, i-shownAround); j <= min(len(lines)-1, i+shownAround); j++ {
			show[j] = true
		}
	}
	var out []differenceLine
	for i, l := range lines {
		switch {
		case show[i]:
			out = append(out, l)
		case i == 0 || show[i-1]:
			out = append(out, differenceLine{'…', ""})
		}
	}
	return out
}

// legible is the lines of a JSON text: those of a string as it is, of anything else laid out,
// with the characters that escapes stand for.
func legible(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var b bytes.Buffer
		if text = string(raw); json.Indent(&b, raw, "", "  ") == nil {
			text = jsonString.ReplaceAllStringFunc(b.String(), unescaped)
		}
	}
	return strings.Split(text, "\n")
}

// jsonString finds the strings of a JSON text.
var jsonString = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// unescaped writes a JSON string with as few escapes as it needs. One that escapes what is not
// a character stays, or two of them would look alike.
func unescaped(s string) string {
	var text string
	if !strings.Contains(s, `\`) || json.Unmarshal([]byte(s), &text) != nil || strings.ContainsRune(text, utf8.RuneError) {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return s
	}
	return strings.TrimSuffix(b.String(), "\n")
}
