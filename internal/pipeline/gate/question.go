package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"collie/internal/pipeline/gate/grant"
	"collie/internal/tool"
)

// This file writes the question that a person is asked, so that nothing in a call can hide a part of it.

// Limits of what a question shows: maxTargets is a number of targets, the others are lengths in characters.
const (
	maxArgs    = 1800
	maxTargets = 20
	maxTarget  = 300
	maxEffect  = 400
	maxName    = 60 // of a name that the person has to type
)

// question returns what a person is asked about c, without Risk and Name, which setRisk adds. Targets and arguments come from others who may be
// malicious, so nothing in the question can control a terminal or start a new line.
func question(c *tool.Call, plan tool.Plan, offers []grant.Grant) tool.Question {
	q := tool.Question{
		Tool: line(c.Tool, maxTarget), Action: line(c.Action.Name, maxTarget),
		Effect: line(plan.Effect, maxEffect), Args: argsText(c.Args),
	}
	if q.Effect == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(c.Action.Description), "\n")
		q.Effect = line(first, maxEffect)
	}
	switch {
	case c.Finding != nil && c.Finding.Ask:
		q.Why = line(c.Finding.Reason+" ("+c.Finding.Rule+")", maxEffect)
	case c.Review != nil:
		q.Why = line(c.Review.Reason+" ("+c.Review.Rule+")", maxEffect)
	}
	for i, t := range plan.Targets {
		if i == maxTargets {
			q.Targets = append(q.Targets, fmt.Sprintf("… and %d more", len(plan.Targets)-i))
			break
		}
		q.Targets = append(q.Targets, line(t, maxTarget))
	}
	for i := range offers {
		g := &offers[i]
		o := tool.GrantOffer{ID: g.ID, Scope: string(g.Scope), Kind: string(g.Constraint.Kind), Within: line(g.Constraint.Name, maxTarget)}
		if g.Scope == grant.Always && !g.Expires.IsZero() {
			o.Expires = &g.Expires
		}
		q.Grants = append(q.Grants, o)
	}
	return q
}

// message returns q as text, for a client that shows text.
func message(q tool.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Collie asks before this runs.\n\nTool: %s\nAction: %s\n", q.Tool, q.Action)
	if q.Effect != "" {
		fmt.Fprintf(&b, "Effect: %s\n", q.Effect)
	}
	if q.Risk != "" {
		fmt.Fprintf(&b, "Risk: %s\n", q.Risk)
	}
	if q.Why != "" {
		fmt.Fprintf(&b, "Why it asks: %s\n", q.Why)
	}
	if len(q.Targets) > 0 {
		b.WriteString("Targets:\n")
	}
	for _, t := range q.Targets {
		fmt.Fprintf(&b, "- %s\n", t)
	}
	fmt.Fprintf(&b, "Arguments: %s", q.Args)
	return b.String()
}

// argsText returns args on one line of visible characters, with long texts cut.
func argsText(args json.RawMessage) string {
	var compact bytes.Buffer
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if err := json.Compact(&compact, args); err != nil {
		return line(string(args), maxArgs)
	}
	// Outside of strings JSON has only visible characters; inside, an escape is equivalent.
	return shorten(replaceInvisible(compact.String(), escaped), maxArgs)
}

// escaped returns r as an escape of a JSON string.
func escaped(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// line returns text as one line of at most limit visible characters.
func line(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	return shorten(replaceInvisible(text, func(rune) string { return "\uFFFD" }), limit)
}

// replaceInvisible replaces characters that are not visible: control characters, those that change the direction of
// text, and invisible ones. Characters that join letters or emoji stay.
func replaceInvisible(text string, instead func(rune) string) string {
	if !strings.ContainsFunc(text, invisible) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if invisible(r) {
			b.WriteString(instead(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func invisible(r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	return r != joiner && r != nonJoiner && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// shorten keeps the first limit characters of text and says how many it removed.
func shorten(text string, limit int) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	end := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return fmt.Sprintf("%s… (%d more characters)", text[:end], n-limit)
}
