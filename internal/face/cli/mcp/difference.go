package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/lazyregexp"
)

// This file shows line by line how the definition of a tool has changed.

// maxCompared bounds the work of comparing two texts: the product of their numbers of lines.
const maxCompared = 1 << 22

// shownAround is how many unchanged lines are shown before and after a changed one.
const shownAround = 2

// differenceLine is one line of the output. sign is '-' for a line of the old text, '+' for a line of the new text, a space
// for a line of both, and '…' for omitted lines of both.
type differenceLine struct {
	sign rune
	text string
}

// difference shows line by line how one text became another. It includes every line that only one of them
// has.
func difference(before, after []string) []differenceLine {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var out []differenceLine
	add := func(sign rune, lines []string) {
		for _, l := range lines {
			out = append(out, differenceLine{sign, l})
		}
	}
	add(' ', before[:head])
	out = append(out, commonLines(before[head:len(before)-tail], after[head:len(after)-tail])...)
	add(' ', before[len(before)-tail:])
	return nearChanges(out)
}

// commonLines compares two texts and keeps as many common lines as possible (the longest common subsequence). It keeps none
// if the computation would take too long.
func commonLines(before, after []string) []differenceLine {
	var out []differenceLine
	i, j := 0, 0
	if len(before)*len(after) <= maxCompared {
		common := make([][]int32, len(before)+1) // common[i][j]: number of lines that before[i:] and after[j:] have in common
		for i := range common {
			common[i] = make([]int32, len(after)+1)
		}
		for i, wa := range slices.Backward(before) {
			for j := len(after) - 1; j >= 0; j-- {
				if common[i][j] = max(common[i+1][j], common[i][j+1]); wa == after[j] {
					common[i][j] = common[i+1][j+1] + 1
				}
			}
		}
		for i < len(before) && j < len(after) {
			switch {
			case before[i] == after[j]:
				out = append(out, differenceLine{' ', before[i]})
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				out = append(out, differenceLine{'-', before[i]})
				i++
			default:
				out = append(out, differenceLine{'+', after[j]})
				j++
			}
		}
	}
	for ; i < len(before); i++ {
		out = append(out, differenceLine{'-', before[i]})
	}
	for ; j < len(after); j++ {
		out = append(out, differenceLine{'+', after[j]})
	}
	return out
}

// nearChanges omits common lines, except those near a change.
func nearChanges(lines []differenceLine) []differenceLine {
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

// readableLines splits a JSON text into readable lines: a string into its own lines, anything else indented, with
// escapes decoded.
func readableLines(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var b bytes.Buffer
		if text = string(raw); json.Indent(&b, raw, "", "  ") == nil {
			text = jsonString.ReplaceAllStringFunc(b.String(), unescapeJSON)
		}
	}
	return strings.Split(text, "\n")
}

// jsonString matches the strings in a JSON text.
var jsonString = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// unescapeJSON rewrites a JSON string with as few escapes as possible. An escape that is not a valid character
// stays, because different ones would otherwise look the same.
func unescapeJSON(s string) string {
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
