package tool

import "unicode"

// Tokens estimates the number of tokens in a text: a quarter of its ASCII bytes plus one for each other character. JSON
// full of ids may have twice as many.
func Tokens(text []byte) int {
	ascii, others := 0, 0
	for _, r := range string(text) {
		if r <= unicode.MaxASCII {
			ascii++
		} else {
			others++
		}
	}
	return (ascii+3)/4 + others
}
