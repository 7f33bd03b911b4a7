package agent

import (
	"unicode/utf8"

	"collie/internal/llm"
)

// What estimateTokens adds for what is not text, in tokens.
const (
	tokensAroundPart = 4    // the JSON around a part of a message
	tokensOfFile     = 1000 // a picture or another file
)

// estimateTokens returns roughly how many tokens a request takes: one for every four bytes of ASCII, or for one and a half
// characters of other scripts. It is right within a third for English and Chinese. It decides when to shorten a
// conversation, and is never used for prices.
func estimateTokens(system string, tools []llm.Tool, messages []llm.Message) int {
	n := tokens(system) + size(tools)/4
	for _, m := range messages {
		for _, p := range m.Parts {
			n += tokensAroundPart + tokens(p.Text) + tokens(p.Args) + len(p.Opaque)/4 + tokensOfFile*len(p.Files)
			if p.Kind == llm.PartFile {
				n += tokensOfFile
			}
		}
	}
	return n
}

// tokens estimates the number of tokens in s.
func tokens(s string) int {
	ascii, other := 0, 0
	for _, r := range s {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return ascii/4 + other*2/3
}

// lastTokens returns the end of s that has at most limit tokens by the estimate of [tokens].
func lastTokens(s string, limit int) string {
	left := 12 * limit // in twelfths of a token: ASCII takes 3 (a quarter of a token), anything else 8 (two thirds)
	for at := len(s); at > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:at])
		if r < utf8.RuneSelf {
			left -= 3
		} else {
			left -= 8
		}
		if left < 0 {
			return s[at:]
		}
		at -= n
	}
	return s
}
